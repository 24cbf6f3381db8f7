# SPDX-License-Identifier: Apache-2.0
"""Requests without a pointer that name a bound server group of Nova or a bound
Heat stack."""

from collections.abc import Sequence
from dataclasses import dataclass

from nova import objects

from nova_holistic.scheduler.hinted import hinted
from nova_holistic.scheduler.pointer import GROUP_HINT, MEMBER_HINT
from nova_holistic.scheduler import server_moves
from nova_holistic.table.coordination.bindings import Bindings
from nova_holistic.table.errors import TableError


@dataclass(frozen=True, slots=True)
class BoundRequest:
    """A request with the pointer that follows from a binding.

    :ivar spec: the request, with a pointer to the member to which its server
        group or its stack is bound
    :ivar is_member: whether servers of the request are members of the group
    """

    spec: 'objects.RequestSpec'
    is_member: bool


def find(bindings: Bindings, spec: 'objects.RequestSpec',
         instance_uuids: Sequence[str]) -> BoundRequest | None:
    """The request with a pointer to the member to which it is bound.

    :returns: None if neither its server group nor its stack is bound to a
        member and none of its servers is a member of a group; None also if
        the table does not answer, and the server may be moved nevertheless
        according to [holistic] unchecked_moves
    :raises TableError: the table does not answer
    """
    wanted = hinted(spec.scheduler_hints, spec.project_id)
    if wanted is None:
        return None
    try:
        found = bindings.pointed(wanted, instance_uuids)
    except TableError:
        if len(instance_uuids) == 1 and server_moves.may_move_unchecked(
                instance_uuids[0]):
            return None
        raise
    if found is None:
        return None
    # Stock Nova may still answer the original request: it stays unchanged.
    pointed = spec.obj_clone()
    pointed.scheduler_hints = {
        **spec.scheduler_hints, GROUP_HINT: [found.group_uuid],
        MEMBER_HINT: [found.path]}
    return BoundRequest(pointed, found.is_member)
