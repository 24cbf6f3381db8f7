# SPDX-License-Identifier: Apache-2.0
"""Requests that name a server group of Nova in place of a pointer."""

from collections.abc import Sequence
from dataclasses import dataclass

from nova import objects

from nova_holistic.scheduler import moves
from nova_holistic.scheduler.pointer import (
    GROUP_HINT, MEMBER_HINT, server_group_of)
from nova_holistic.table.coordination.bindings import Bindings
from nova_holistic.table.errors import TableError


@dataclass(frozen=True, slots=True)
class BoundRequest:
    """
    :ivar spec: the request with the pointer to which its server group is
        bound
    :ivar is_member: whether servers of the request are members of the group
    """

    spec: 'objects.RequestSpec'
    is_member: bool


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
