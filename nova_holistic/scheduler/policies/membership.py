# SPDX-License-Identifier: Apache-2.0
"""The member that a server is, and the group it belongs to."""

import collections
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import threading
import weakref

from nova import context as nova_context
from nova import objects

from nova_holistic.documents.group import parse_group
from nova_holistic.model.group import Group
from nova_holistic.model.policy import Policy
from nova_holistic.scheduler.claim.refusal import Refused
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import cloudview, locations
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.scheduler.policies import adopted_servers
from nova_holistic.scheduler.policies.judge import Judge
from nova_holistic.scheduler.policies import whereabouts
from nova_holistic.table.queries.rosters import Found
from nova_holistic.table.records import GroupRecord, MemberRecord
from nova_holistic.table.store import SITTING

REMEMBERED_GROUPS = 256

_prepared: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

_parsed: collections.OrderedDict = collections.OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Membership:
    """A server's row, and all rows of its group.

    :ivar by_plan: the hosts in question are the row's place and alternates
    :ivar _judges: the answer of :meth:`judge`, worked out once
    :ivar _shown: the answer of :meth:`whole_judge`, worked out once
    """

    record: GroupRecord
    own: MemberRecord
    rows: Sequence[MemberRecord]
    by_plan: bool = False
    _judges: list[Judge] = field(
        default_factory=list, init=False, repr=False, compare=False)
    _shown: list[Judge] = field(
        default_factory=list, init=False, repr=False, compare=False)

    def judge(self, connections: Connections, context=None) -> Judge:
        """The group's policies, with the others where they really are."""
        if not self._judges:
            self._judges.append(self._judge(connections, context))
        return self._judges[0]

    def whole_judge(self, connections: Connections) -> Judge:
        """The checker, with the whole cloud if a policy needs it."""
        if not self._shown:
            judge = self.judge(connections)
            self._shown.append(
                judge if self.is_as_planned(connections)
                else cloudview.shown_to(judge, connections, self.rows))
        return self._shown[0]

    def is_as_planned(self, connections: Connections) -> bool:
        """Whether the hosts in question were chosen with a view of the whole
        cloud, and every other member is at its place in the table: then the
        cloud need not be read again."""
        judge = self.judge(connections)
        others = judge.others
        return self.by_plan and not judge.sources and all(
            row.state in SITTING and row.member.path in others
            and others[row.member.path].name == row.place.host
            for row in self.rows if row.id != self.own.id)

    def _judge(self, connections: Connections, context) -> Judge:
        context = context or nova_context.get_admin_context()
        others = {row.member.path: row for row in self.rows
                  if row.id != self.own.id}
        now = whereabouts.positions_of(context, others.values())
        hosts = locations.of_members(connections.topology, context, [
            (self.record, others[path], position.host)
            for path, position in now.items()])
        sources = {path: position.source for path, position in now.items()
                   if position.source not in (None, position.host)}
        found = locations.looked_up(
            connections.topology, context, set(sources.values()))
        return Judge(
            parsed_group(self.record, connections.policy_types),
            connections.topology.levels, self.own.member.path,
            {path: hosts[others[path].id] for path in now},
            connections.topology.links,
            sources={path: found[name] for path, name in sources.items()})

    @property
    def instances(self) -> frozenset[str]:
        """UUIDs of the group's servers."""
        return frozenset(row.instance_uuid for row in self.rows
                         if row.instance_uuid is not None)


def find(connections: Connections, spec: 'objects.RequestSpec'
         ) -> Membership | None:
    """What the server of a request is, if it is a member of a group.

    A server without a row was scheduled although its pointer could not be
    honoured. It counts as the member of its pointer if no other server is that
    member, and if it was not detached. A server that a group has adopted has
    no pointer to this group.
    """
    prepared = _prepared.pop(spec, None)
    if prepared is not None:
        return prepared
    try:
        pointer = Pointer.from_hints(_hints(spec))
    except Refused:
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


def prepare(spec: 'objects.RequestSpec', found: Membership) -> None:
    """Spare the filter that runs next on this request reading the group."""
    _prepared[spec] = found


def pointed_at(rows: Sequence[MemberRecord], path: str
               ) -> list[MemberRecord]:
    """The member of that path, or all servers of that description."""
    return ([row for row in rows if row.member.path == path]
            or [row for row in rows if row.member.description == path])


def _of_group(connections: Connections, spec, group: str) -> Found | None:
    """A group with its members, if it belongs to the server's project."""
    found = connections.table.rosters.read(group)
    return found if found and found[0].project_id == spec.project_id else None


def _with_server(rows: Sequence[MemberRecord],
                 instance_uuid: str) -> MemberRecord | None:
    return next((row for row in rows
                 if row.instance_uuid == instance_uuid), None)


def _free(connections: Connections, found: Found, pointer: Pointer,
          instance_uuid: str) -> MemberRecord | None:
    """The member that the server points at, unless it was detached."""
    free = [row for row in pointed_at(found[1], pointer.member)
            if row.instance_uuid is None]
    if not free or adopted_servers.is_detached(
            connections, found[0].uuid, instance_uuid):
        return None
    return free[0]


def _hints(spec) -> Mapping | None:
    return spec.scheduler_hints if 'scheduler_hints' in spec else None


def parsed_group(record: GroupRecord,
                 policy_types: Mapping[str, type[Policy]]) -> Group:
    """The group of a record; parsed once while its document is the same."""
    with _lock:
        document, group = _parsed.get(record.uuid, (None, None))
        if document != record.document:
            group = parse_group(record.document, policy_types)
            _parsed[record.uuid] = (record.document, group)
        _parsed.move_to_end(record.uuid)
        while len(_parsed) > REMEMBERED_GROUPS:
            _parsed.popitem(last=False)
        return group
