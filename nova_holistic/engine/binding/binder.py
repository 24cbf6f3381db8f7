# SPDX-License-Identifier: Apache-2.0
"""Binds server groups of Nova to members."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from oslo_log import log as logging

from nova_holistic.constraints.filters import server_groups
from nova_holistic.engine.binding.possible_members import possible_members
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.messaging import errors
from nova_holistic.messaging.results import ShownBinding
from nova_holistic.model.nova.server_group import ServerGroup
from nova_holistic.table.coordination.bindings import (
    BINDABLE, Binding, BindingKind)
from nova_holistic.table.database import Duplicate
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import GroupRecord, MemberRecord
from nova_holistic.table.store import OCCUPYING, PlacementTable

LOG = logging.getLogger(__name__)

ACTIVE, DELETED, UNKNOWN = 'active', 'deleted', 'unknown'
UNCHECKED = 'unchecked'
"""The status of a bound stack, because Heat is not queried."""


class Binder:
    """Binds server groups of Nova to members of groups.

    A server group is bound only if the planned hosts of its members satisfy
    its hard policy.
    """

    def __init__(self, table: PlacementTable, inventory: CloudInventory,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._table = table
        self._inventory = inventory
        self._clock = clock

    def bind(self, group_uuid: str, path: str,
             server_group: str) -> ShownBinding:
        """Bind a server group to a member: creates in the server group then
        count as creates of the member. A repeated request changes nothing.

        :param path: path of a member or of a nested group; empty means the
            whole group. A group with a single member description stands for
            this description.
        :raises GroupUnknown: no such group exists
        :raises MemberUnknown: the group has no such path
        :raises InvalidDocument: the path stands for several members, or for
            one server of a counted member; or the project has no such server
            group
        :raises BindingRefused: the plan contradicts the server group, one of
            the two is already bound, or the members have no planned places
        :raises GroupBusy: an engine works on the group
        :raises HolisticError: Nova or the table does not respond
        """
        record, members = bindable(self._table, group_uuid)
        found = self._server_group(server_group)
        if found is None or found.project_id != record.project_id:
            raise exceptions.InvalidDocument(
                'server_group', f'unknown server group {server_group}')
        description = description_path(record, members, path)
        _must_agree(found, [row for row in members
                            if row.member.description == description], members)
        return shown_binding(self._add(Binding(
            BindingKind.SERVER_GROUP, server_group, group_uuid, description,
            self._clock())), ACTIVE)

    def bindings(self, group_uuid: str) -> Sequence[ShownBinding]:
        """The bindings of a group. The status of a binding states whether its
        server group exists."""
        return [shown_binding(binding, self._status(binding.target)
                              if binding.kind == BindingKind.SERVER_GROUP
                              else UNCHECKED)
                for binding in self._table.bindings.of_group(group_uuid)]

    def _add(self, binding: Binding) -> Binding:
        known = self._known(binding)
        if known is not None:
            return known
        try:
            written = self._table.bindings.add(
                binding, self._deleted_server_groups(binding))
        except Duplicate:
            # Another request has bound one of the two in the meantime.
            known = self._known(binding)
            if known is None:
                self._deleted_server_groups(binding)
                raise
            return known
        if not written:
            raise errors.GroupBusy(
                f'group {binding.group_uuid} is being changed')
        return binding

    def _known(self, binding: Binding) -> Binding | None:
        """The binding in the table; None if the server group is not bound.

        :raises BindingRefused: the server group is bound to another member
        """
        known = self._table.bindings.find(binding.kind, binding.target)
        if known is not None and (known.group_uuid, known.path) != (
                binding.group_uuid, binding.path):
            raise errors.BindingRefused(
                f'server group {known.target} is bound to member '
                f'{known.path!r} of group {known.group_uuid}')
        return known

    def _deleted_server_groups(self, binding: Binding) -> Collection[str]:
        """The server groups that are bound to the path of the binding and were
        deleted in Nova.

        :raises BindingRefused: an existing server group is bound to the path
        """
        others = [other.target for other in self._table.bindings.of_group(
            binding.group_uuid) if other.path == binding.path
            and other.kind == binding.kind]
        for target in others:
            if self._status(target) != DELETED:
                raise errors.BindingRefused(
                    f'member {binding.path!r} is bound to server group '
                    f'{target}')
        return others

    def _server_group(self, uuid: str) -> ServerGroup | None:
        return self._inventory.server_groups([uuid]).get(uuid)

    def _status(self, uuid: str) -> str:
        try:
            return DELETED if self._server_group(uuid) is None else ACTIVE
        except exceptions.HolisticError as error:
            LOG.warning('Server group %s cannot be read: %s', uuid, error)
            return UNKNOWN


def bindable(table: PlacementTable, group_uuid: str
             ) -> tuple[GroupRecord, Sequence[MemberRecord]]:
    """A group whose members can be bound, and these members.

    :raises GroupUnknown: no such group exists
    :raises GroupBusy: an engine works on the group
    :raises BindingRefused: its members have no planned places
    """
    found = table.group_with_members(group_uuid)
    if found is None:
        raise table_errors.GroupUnknown(group_uuid)
    record, _ = found
    if record.task is not None:
        raise errors.GroupBusy(
            f'group {group_uuid} is busy: {record.task}; try again when '
            'this task is finished')
    if record.status not in BINDABLE:
        raise errors.BindingRefused(
            f'group {group_uuid} is {record.status}: its members have no '
            'planned places')
    return found


def description_path(record: GroupRecord, members: Sequence[MemberRecord],
                     path: str) -> str:
    """The path of the member description to which a path refers.

    :param members: the rows of the group
    :param path: path of a member description, or of a group with a single
        member description; empty means the whole group
    :raises MemberUnknown: the group has no such path
    :raises InvalidDocument: the path stands for several descriptions, or for
        one server of a counted member
    """
    known = {member.description for member in (
        *(row.member for row in members), *possible_members(record))}
    if path in known:
        return path
    counted = next((row.member.description for row in members
                    if row.member.path == path), None)
    if counted is not None:
        raise exceptions.InvalidDocument(
            'binding.path', f'{path!r} is one server of a counted member: '
            f'use {counted!r}')
    inside = sorted(known_path for known_path in known
                    if not path or known_path.startswith(f'{path}/'))
    if not inside:
        raise table_errors.MemberUnknown(record.uuid, path)
    if len(inside) > 1:
        raise exceptions.InvalidDocument(
            'binding.path', f'{path!r} is ambiguous: name one of its members, '
            f'such as {inside[0]!r} or {inside[1]!r}')
    return inside[0]


def _must_agree(group: ServerGroup, wanted: Sequence[MemberRecord],
                members: Sequence[MemberRecord]) -> None:
    """Check that the server group allows the places of its members.

    :param wanted: the members that will be in the server group
    :param members: all members of the holistic group
    :raises BindingRefused: the server group does not allow their places, or
        the description of a member names another server group
    """
    other = next((row.member.requirements.server_group for row in wanted
                  if row.member.requirements.server_group
                  not in (None, group.uuid)), None)
    if other is not None:
        raise errors.BindingRefused(
            f'the description of the member names server group {other}')
    inside = [row for row in members if row.state in OCCUPYING and (
        row in wanted or row.member.requirements.server_group == group.uuid)]
    own = {row.instance_uuid for row in inside}
    reason = server_groups.violation_reason(group, [
        *(row.place.host for row in inside),
        *(host for server, host in group.hosts.items() if server not in own)])
    if reason is not None:
        raise errors.BindingRefused(
            f'the plan contradicts server group {group.uuid}: {reason}')


def shown_binding(binding: Binding, status: str) -> ShownBinding:
    """The binding in the form that the API returns."""
    return ShownBinding(
        str(binding.kind), binding.shown_target, binding.path,
        binding.created_at.isoformat(), status,
        [[rule.resource, rule.member] for rule in binding.rules])
