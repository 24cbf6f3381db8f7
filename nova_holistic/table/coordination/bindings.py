# SPDX-License-Identifier: Apache-2.0
"""Bindings of server groups of Nova, and of Heat stacks, to members.

If a server is created with the hint ``group`` of a bound server group, the
scheduler handles the request like a request with a pointer to the member. The
same applies to the hints of a bound Heat stack if a rule of the binding
matches them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import enum
import uuid

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.model.stack_rules import below, path_of, StackRule
from nova_holistic.table.conditional_updates import update_in
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import GroupStatus
from nova_holistic.table.schema.binding_model import BindingRow
from nova_holistic.table.schema.models import GroupRow, MemberRow

BINDABLE = (GroupStatus.PLANNED, GroupStatus.BUILDING, GroupStatus.COMPLETE,
            GroupStatus.DEGRADED)
"""Statuses of a group whose members have places."""


class BindingKind(enum.StrEnum):
    """The kind of object that is bound."""

    SERVER_GROUP = 'server-group'
    HEAT_STACK = 'heat-stack'


_STACKS = uuid.UUID('5c0f6c1e-6d0b-5f53-9a5e-3c1d3a3c8f0d')


def stack_target(project_id: str, stack: str) -> str:
    """The target of a binding of a Heat stack.

    The target depends on the project, because the name of a stack is unique
    only in its project. It also prevents a project from binding the stack of
    another project: no service sends requests to Heat to check IDs.

    :param stack: name or ID of the stack
    """
    return str(uuid.uuid5(_STACKS, f'{project_id}/{stack}'))


@dataclass(frozen=True, slots=True)
class Binding:
    """The binding of a server group or a Heat stack to a member or a group.

    :ivar target: UUID of the server group; for a stack, see ``stack_target``
    :ivar group_uuid: UUID of the holistic group
    :ivar path: path of a member description; for a stack, also of a nested
        group, or empty for the whole group
    :ivar stack: name or ID of a Heat stack
    :ivar rules: rules for the servers of the stack
    """

    kind: BindingKind
    target: str
    group_uuid: str
    path: str
    created_at: datetime
    stack: str | None = None
    rules: tuple[StackRule, ...] = ()

    @property
    def shown_target(self) -> str:
        """The target in the form that the user has given."""
        return self.stack or self.target


@dataclass(frozen=True, slots=True)
class Hinted:
    """The objects that the hints of a request name.

    :ivar server_group: UUID of a server group
    :ivar stacks: targets of the top-level Heat stack; the first target that is
        bound and has a rule for the server is used
    :ivar resources: names of the resources from the top-level stack down to
        the server
    """

    server_group: str | None = None
    stacks: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BoundMember:
    """The member to which a request without a pointer is bound.

    :ivar path: path of a member description; for a server that is a member,
        the path of this member
    :ivar is_member: whether servers of the request are members of the group
    """

    group_uuid: str
    path: str
    is_member: bool


class Bindings:
    """The bindings in the table. Every method is one short transaction."""

    def __init__(self, database: Database):
        self._database = database

    @retried
    def add(self, binding: Binding, instead_of: Collection[str] = ()) -> bool:
        """Write a binding.

        :param instead_of: targets whose bindings of the same kind to the same
            group are removed
        :returns: False if an engine works on the group, if its members have no
            places, or if it was deleted
        :raises Duplicate: the target or the path already has a binding
        """
        with self._database.writer() as session:
            # The statement locks the group's row until the binding is written.
            if not session.execute(
                    sa.update(GroupRow)
                    .where(GroupRow.uuid == binding.group_uuid,
                           GroupRow.status.in_(BINDABLE),
                           GroupRow.task.is_(None))
                    .values(updated_at=binding.created_at)
                    .execution_options(synchronize_session=False)).rowcount:
                return False
            ended = _removed(session, binding.group_uuid, [
                BindingRow.kind == str(binding.kind),
                BindingRow.target.in_(instead_of)]) if instead_of else []
            session.execute(sa.insert(BindingRow).values(
                kind=str(binding.kind), target=binding.target,
                group_uuid=binding.group_uuid, path=binding.path,
                created_at=binding.created_at, stack=binding.stack,
                rules=[[rule.resource, rule.member]
                       for rule in binding.rules] or None))
            now = binding.created_at
            events.add(session, [
                *(_event(ended_binding, events.Kind.GROUP_UNBOUND, now)
                  for ended_binding in ended),
                _event(binding, events.Kind.GROUP_BOUND, now)])
        return True

    @retried
    def remove(self, group_uuid: str, targets: Collection[str],
               now: datetime) -> bool:
        """Delete the bindings of targets to a group.

        :returns: whether the group had a binding of one of the targets
        """
        with self._database.writer() as session:
            where = [BindingRow.kind.in_([str(kind) for kind in BindingKind]),
                     BindingRow.target.in_(targets)]
            # This locks the row of the group before the rows of the bindings,
            # as in ``add``, and changes nothing. SQLite requires that the
            # first statement writes.
            update_in(session, GroupRow, [GroupRow.uuid == group_uuid],
                      {'revision': GroupRow.revision})
            ended = _removed(session, group_uuid, where)
            if ended:
                update_in(session, GroupRow, [GroupRow.uuid == group_uuid],
                          {'updated_at': now})
                events.add(session, [
                    _event(ended_binding, events.Kind.GROUP_UNBOUND, now)
                    for ended_binding in ended])
        return bool(ended)

    def find(self, kind: BindingKind, target: str) -> Binding | None:
        """The binding of a target; None if it is not bound."""
        with self._database.reader() as session:
            row = session.get(BindingRow, (str(kind), target))
            return row and _record(row)

    def of_group(self, group_uuid: str) -> Sequence[Binding]:
        """The bindings of a group in the order of their paths."""
        with self._database.reader() as session:
            return tuple(map(_record, session.scalars(
                sa.select(BindingRow).where(
                    BindingRow.group_uuid == group_uuid)
                .order_by(BindingRow.path, BindingRow.kind))))

    def server_groups(self, group_uuid: str) -> Mapping[str, str]:
        """UUIDs of bound server groups, by the path of the description."""
        with self._database.link() as link:
            return {path: target for path, target in link.execute(
                sa.select(BindingRow.path, BindingRow.target).where(
                    BindingRow.group_uuid == group_uuid,
                    BindingRow.kind == BindingKind.SERVER_GROUP))}

    def pointed(self, hinted: Hinted, instance_uuids: Sequence[str] = ()
                ) -> BoundMember | None:
        """The member to which the hints of a request are bound, in one
        statement; None if nothing is bound. A bound server group takes
        precedence over a bound stack.

        A server that is a member stays a member if nothing is bound now, or if
        another group is bound now.

        :param instance_uuids: UUIDs of the servers of the request
        """
        query = sa.select(
            BindingRow.group_uuid, BindingRow.path, BindingRow.target,
            BindingRow.rules, sa.literal(0)).where(_any_of(hinted))
        if instance_uuids:
            query = query.union_all(sa.select(
                MemberRow.group_uuid, MemberRow.path, sa.null(), sa.null(),
                sa.literal(1)).where(
                    MemberRow.instance_uuid.in_(instance_uuids)))
        members, bound = [], {}
        with self._database.reader() as session:
            for group, path, target, rules, is_member in session.execute(
                    query):
                if is_member:
                    members.append(BoundMember(group, path, True))
                    continue
                inside = '' if rules is None else path_of(
                    _rules(rules), hinted.resources)
                if inside is not None:
                    bound[target] = group, below(path, inside)
        found = next((bound[target] for target in (
            hinted.server_group, *hinted.stacks) if target in bound), None)
        if found is None or any(
                row.group_uuid != found[0] for row in members):
            return members[0] if members else found and BoundMember(
                *found, False)
        return BoundMember(*found, bool(members))

    def is_described(self, group_uuid: str, path: str,
                     description: str) -> bool:
        """Whether a member has this description."""
        with self._database.reader() as session:
            return session.scalar(sa.select(MemberRow.description).where(
                MemberRow.group_uuid == group_uuid,
                MemberRow.path == path)) == description


def _any_of(hinted: Hinted) -> sa.ColumnElement[bool]:
    """The bindings of the objects that the hints name."""
    kinds = {BindingKind.SERVER_GROUP: (hinted.server_group,),
             BindingKind.HEAT_STACK: hinted.stacks}
    return sa.or_(*(
        sa.and_(BindingRow.kind == str(kind), BindingRow.target == target)
        for kind, targets in kinds.items() for target in targets if target))


def _select(session: orm.Session, group_uuid: str,
            where: Sequence[sa.ColumnElement[bool]]) -> list[Binding]:
    return [_record(row) for row in session.scalars(
        sa.select(BindingRow).where(
            *where, BindingRow.group_uuid == group_uuid))]


def _removed(session: orm.Session, group_uuid: str,
             where: Sequence[sa.ColumnElement[bool]]) -> list[Binding]:
    """Delete bindings of a group.

    :returns: the deleted bindings; empty if another transaction has deleted
        them
    """
    found = _select(session, group_uuid, where)
    if found and not session.execute(
            sa.delete(BindingRow).where(
                *where, BindingRow.group_uuid == group_uuid)
            .execution_options(synchronize_session=False)).rowcount:
        return []
    return found


def _event(binding: Binding, kind: events.Kind,
           now: datetime) -> events.Event:
    return events.Event(
        binding.group_uuid, kind, now, details={
            'binding': str(binding.kind), 'target': binding.shown_target,
            'path': binding.path})


def _rules(pairs: Sequence[Sequence[str]]) -> tuple[StackRule, ...]:
    return tuple(StackRule(*pair) for pair in pairs)


def _record(row: BindingRow) -> Binding:
    return Binding(BindingKind(row.kind), row.target, row.group_uuid,
                   row.path, row.created_at, row.stack,
                   _rules(row.rules or ()))
