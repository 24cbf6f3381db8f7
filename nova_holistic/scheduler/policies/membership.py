# SPDX-License-Identifier: Apache-2.0
"""The member to which a server belongs, and its group."""

import collections
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import threading
import weakref

from nova import context as nova_context
from nova import objects

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.groups import volumes as documents
from nova_holistic.engine.decision.link_use import with_other_groups
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.fixed_volumes import with_fixed_volumes
from nova_holistic.model.group import Group
from nova_holistic.model.identity_cache import IdentityCache
from nova_holistic.model.layered_mapping import (
    differences, LayeredMapping)
from nova_holistic.model.policy import Policy
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import all_hosts, locations
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.scheduler.policies import (
    adopted_servers, exclusive_positions)
from nova_holistic.scheduler.policies.member_hosts import SizedGroup
from nova_holistic.scheduler.policies.policy_evaluation import (
    PolicyEvaluation, scopes_of_members)
from nova_holistic.scheduler.policies.server_locations import OWNED
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.queries.group_members import GroupMembers
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState)
from nova_holistic.table.volume_records import OCCUPYING as VOLUME_STATES
from nova_holistic.topology.base import Location

REMEMBERED_GROUPS = 256

_stored: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

_parsed: collections.OrderedDict = collections.OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Membership:
    """A server's row, and all rows of its group.

    :ivar by_plan: whether only the row's place and alternates are evaluated
    :ivar _evaluations: the cached result of :meth:`evaluation`
    :ivar _complete_evaluations: the cached result of
        :meth:`complete_evaluation`
    :ivar _displaced: ``Placed.displaced`` of that evaluation
    """

    record: GroupRecord
    own: MemberRecord
    rows: Sequence[MemberRecord]
    by_plan: bool = False
    _evaluations: list[PolicyEvaluation] = field(
        default_factory=list, init=False, repr=False, compare=False)
    _complete_evaluations: list[PolicyEvaluation] = field(
        default_factory=list, init=False, repr=False, compare=False)
    _displaced: list[frozenset[int]] = field(
        default_factory=list, init=False, repr=False, compare=False)

    def evaluation(self, connections: Connections,
                   context=None) -> PolicyEvaluation:
        """The evaluation of the group's policies, with the other members on
        their current hosts.

        :raises HolisticError: a host cannot be located, or the table does not
            answer
        """
        if not self._evaluations:
            self._evaluations.append(self._evaluate(connections, context))
        return self._evaluations[0]

    def complete_evaluation(self,
                            connections: Connections) -> PolicyEvaluation:
        """The evaluation, with all hosts if a policy needs them."""
        if not self._complete_evaluations:
            evaluation = self.evaluation(connections)
            self._complete_evaluations.append(
                evaluation if evaluation.is_local
                or self.is_as_planned(connections)
                else all_hosts.with_all_hosts(evaluation, connections,
                                              self.rows))
        return self._complete_evaluations[0]

    def is_as_planned(self, connections: Connections) -> bool:
        """Whether the evaluated hosts are from the plan, and every other
        member is at its place in the table. The plan took all hosts into
        account, so the cloud need not be read again."""
        evaluation = self.evaluation(connections)
        return (self.by_plan and not evaluation.sources
                and self._displaced[0] <= {self.own.id})

    def _evaluate(self, connections: Connections, context) -> PolicyEvaluation:
        levels, path = connections.topology.levels, self.own.member.path
        rows = self._members.by_id
        group = sized_group(
            self.record, connections.policy_types, rows, self.own)
        if self.by_plan and not scopes_of_members(group).get(path):
            # No rule reads the hosts of other members. A search for another
            # host does: the objective may depend on them.
            return PolicyEvaluation(group, levels, path, {})
        context = context or nova_context.get_admin_context()
        # The server of the request is not read.
        if self.own.id in rows and rows[self.own.id].state in OWNED:
            rows = rows.updated({}, [self.own.id])
        found = connections.member_hosts.read(
            SizedGroup(self.record, group, levels), rows,
            exclusive_positions.of_group(
                connections, context, self.record, rows,
                # Other rows may have places that the table does not have.
                self if self.by_plan and self.rows is self._members else None),
            lambda names: locations.locate_hosts(
                connections.topology, names))
        self._displaced.append(found.displaced)
        placed = found.placed.variant(
            {path: None, **self._volumes(connections)})
        return PolicyEvaluation(
            group, levels, path, placed.hosts,
            with_other_groups(
                connections.table, group, self.record.uuid, Snapshot(
                    levels, (), connections.topology.links)).links,
            sources={each: host for each, host in found.sources.items()
                     if each != path}, placed=placed)

    def _volumes(self, connections: Connections) -> Mapping[str, Host]:
        """The pools of the volumes that use capacity, by path, at their
        locations when they were planned. Empty if the topology has had other
        levels then."""
        if self.record.levels != connections.topology.levels or (
                not documents.has_volumes(self.record.document)):
            return {}
        return {row.path: locations.host_at(row.pool, Location(
            row.location, dict(row.labels)))
            for row in connections.table.volumes.of_group(self.record.uuid)
            if row.state in VOLUME_STATES}

    def has_server(self, uuid: str) -> bool:
        """Whether a server belongs to a member of the group."""
        return self._members.have_any_of([uuid])

    @property
    def _members(self) -> GroupMembers:
        return (self.rows if isinstance(self.rows, GroupMembers)
                else GroupMembers.of(self.rows))

    @property
    def instances(self) -> frozenset[str]:
        """UUIDs of the group's servers."""
        return frozenset([row.instance_uuid for row in self.rows
                          if row.instance_uuid is not None])


def find(connections: Connections, spec: 'objects.RequestSpec'
         ) -> Membership | None:
    """The member to which the server of a request belongs, with its group.

    A server without a row was scheduled although its pointer could not be
    honoured. It counts as the member of its pointer if this member has no
    server, and if the server was not detached. A server that a group has
    adopted has no pointer to this group, so the table names its group.

    :returns: None if the server is not a member of a group
    :raises TableError: the table does not answer
    """
    stored = _stored.pop(spec, None)
    if stored is not None:
        return stored
    try:
        pointer = Pointer.from_hints(_hints(spec))
    except RequestRefused:
        return None
    found = pointer and _of_group(connections, spec, pointer.group)
    own = found and _with_server(found[1], spec.instance_uuid)
    if own is None:
        uuid = adopted_servers.group_of(connections, spec)
        if uuid is not None and (pointer is None or uuid != pointer.group):
            found = _of_group(connections, spec, uuid)
            own = found and _with_server(found[1], spec.instance_uuid)
        elif found:
            own = _free(connections, found, pointer, spec.instance_uuid)
    return own and Membership(found[0], own, found[1])


def store_for_next_find(spec: 'objects.RequestSpec',
                        found: Membership) -> None:
    """Store the result of the next ``find`` for this request, so that the
    filter need not read the group."""
    _stored[spec] = found


def _of_group(connections: Connections, spec, group: str) -> Found | None:
    """A group with its members, if it belongs to the server's project."""
    found = connections.table.group_cache.read(group)
    return found if found and found[0].project_id == spec.project_id else None


def _with_server(rows: Sequence[MemberRecord],
                 instance_uuid: str) -> MemberRecord | None:
    return next((row for row in rows
                 if row.instance_uuid == instance_uuid), None)


def _free(connections: Connections, found: Found, pointer: Pointer,
          instance_uuid: str) -> MemberRecord | None:
    """A row without a server that the pointer names; None if there is no such
    row, or if the server was detached from the group."""
    free = [row for row in found[1].pointed_at(pointer.member)
            if row.instance_uuid is None]
    if not free or adopted_servers.is_detached(
            connections, found[0].uuid, instance_uuid):
        return None
    return free[0]


def _hints(spec) -> Mapping | None:
    return spec.scheduler_hints if 'scheduler_hints' in spec else None


def parsed_group(record: GroupRecord,
                 policy_types: Mapping[str, type[Policy]]) -> Group:
    """The group of a record. Its document is parsed only if it has changed.

    :raises InvalidDocument: the document is not valid
    """
    with _lock:
        document, group = _parsed.get(record.uuid, (None, None))
        if document != record.document:
            group = with_fixed_volumes(
                parse_group(record.document, policy_types))
            _parsed[record.uuid] = (record.document, group)
        _parsed.move_to_end(record.uuid)
        while len(_parsed) > REMEMBERED_GROUPS:
            _parsed.popitem(last=False)
        return group


def sized_group(record: GroupRecord,
                policy_types: Mapping[str, type[Policy]],
                rows: LayeredMapping[int, MemberRecord],
                own: MemberRecord) -> Group:
    """The group with its current members if their number may change;
    otherwise the group as its document describes it.

    :param rows: members by the IDs of their rows
    :param own: another member, or the current row of one of these
    """
    group = parsed_group(record, policy_types)
    if not group.is_elastic:
        return group
    return _sizes(group).resized(rows.updated({own.id: own}))


class _LastSize:
    """Caches the latest size of a group. Until its members change, each create
    needs the same size."""

    def __init__(self, group: Group):
        self._group = group
        self._last: tuple[LayeredMapping[int, MemberRecord],
                          frozenset[str], Group | None] = (
                              LayeredMapping(), frozenset(), None)

    def resized(self, rows: LayeredMapping[int, MemberRecord]) -> Group:
        """The group with the members that are not released. Only rows that
        have changed since the last call are visited.

        :param rows: members by the IDs of their rows
        """
        last, paths, group = self._last
        if group is None or any(
                _path(last.get(number)) != _path(rows.get(number))
                for number in differences(last, rows)):
            now = frozenset(map(_path, rows.values())) - {None}
            if group is None or now != paths:
                paths, group = now, self._group.resized(now)
        self._last = rows, paths, group
        return group


def _path(row: MemberRecord | None) -> str | None:
    """The path of a member; None if it does not exist or is released."""
    return (None if row is None or row.state == MemberState.RELEASED
            else row.member.path)


_sizes = IdentityCache(_LastSize, REMEMBERED_GROUPS)
