# SPDX-License-Identifier: Apache-2.0
"""Requests that name a server group of Nova in place of a pointer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nova import objects
from oslo_utils import uuidutils

from nova_holistic.scheduler.claim.refusal import Refused
from nova_holistic.scheduler import moves
from nova_holistic.scheduler.pointer import GROUP_HINT, MEMBER_HINT, Pointer
from nova_holistic.table.coordination.bindings import Bindings
from nova_holistic.table.errors import TableError

SERVER_GROUP_HINT = 'group'


@dataclass(frozen=True, slots=True)
class BoundRequest:
    """
    :ivar spec: the request with the pointer to which its server group is
        bound
    :ivar is_member: whether servers of the request are members of the group
    """

    spec: 'objects.RequestSpec'
    is_member: bool


def server_group_of(hints: Mapping | None) -> str | None:
    """The UUID of the server group in a server's scheduler hints."""
    found = (hints or {}).get(SERVER_GROUP_HINT)
    # Nova turns a single string into a list on its way to the scheduler.
    values = [found] if isinstance(found, str) else found or []
    if (not isinstance(values, list | tuple) or len(values) != 1
            or not uuidutils.is_uuid_like(values[0])):
        return None
    return str(values[0]).lower()


def find(bindings: Bindings, spec: 'objects.RequestSpec',
         instance_uuids: Sequence[str]) -> BoundRequest | None:
    """The request as a request with a pointer; None if its server group is
    not bound, and none of its servers is a member of a group.

    :raises TableError: that is not known
    """
    server_group = server_group_of(spec.scheduler_hints)
    if server_group is None:
        return None
    try:
        found = bindings.pointed(server_group, instance_uuids)
    except TableError:
        if len(instance_uuids) == 1 and moves.may_go_unchecked(
                instance_uuids[0]):
            return None
        raise
    if found is None:
        return None
    # Stock Nova may still get the request, and as it came.
    pointed = spec.obj_clone()
    pointed.scheduler_hints = {
        **spec.scheduler_hints, GROUP_HINT: [found.group_uuid],
        MEMBER_HINT: [found.path]}
    return BoundRequest(pointed, found.is_member)


def must_agree(bindings: Bindings, hints: Mapping) -> None:
    """
    :param hints: of a create with a pointer
    :raises Refused: the server group is bound to another member; or the
        pointer is invalid
    """
    pointer, server_group = Pointer.from_hints(hints), server_group_of(hints)
    if pointer is None or server_group is None:
        return
    bound = bindings.pointed(server_group)
    if bound is None or bound.group_uuid == pointer.group and (
            bound.path == pointer.member or bindings.is_described(
                pointer.group, pointer.member, bound.path)):
        return
    raise Refused(
        f'the request has a pointer to member {pointer.member!r} of group '
        f'{pointer.group}, and server group {server_group} is bound to '
        f'another member')
