# SPDX-License-Identifier: Apache-2.0
"""A request with its pointer, and the group that it points at.

The group is read before all other data of the request. Therefore one later
statement can read the cells of the request's servers and of other servers of
the group.
"""

from collections.abc import Sequence
import contextlib
from dataclasses import dataclass

from nova import objects

from nova_holistic import exceptions
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.pointer import Pointer
from nova_holistic.scheduler.policies import exclusive_positions, membership
from nova_holistic.scheduler.policies.policy_evaluation import (
    scopes_of_members)
from nova_holistic.scheduler import request_memory
from nova_holistic.table import errors
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.records import Place
from nova_holistic.table.store import PlacementTable


@dataclass(frozen=True, slots=True)
class PointedRequest:
    """A request, and the group that its pointer names.

    :ivar spec: the request, with the pointer in its scheduler hints
    :ivar found: the group with its members; None if it does not exist, or if
        it could not be read
    :ivar alternates: alternates of the member; None if they were not read
    :ivar error: the error if the pointer is invalid or the group could not be
        read; it is raised only for a create, because a move does not need the
        group
    """

    spec: 'objects.RequestSpec'
    found: Found | None = None
    alternates: Sequence[Place] | None = None
    error: exceptions.HolisticError | None = None

    def unread_servers(self, connections: Connections) -> Sequence[str]:
        """UUIDs of the servers of the group whose cells will be read; of an
        exclusive group, those of all exclusive groups. A group without rules
        needs none of them."""
        if self.found is None:
            return []
        record, rows = self.found
        with contextlib.suppress(exceptions.InvalidDocument):
            if not scopes_of_members(membership.parsed_group(
                    record, connections.policy_types)):
                return []
        if record.exclusive:
            # A move does not need the table.
            with contextlib.suppress(errors.TableError):
                return exclusive_positions.unread_servers(connections)
            return []
        return connections.positions.unread_servers(record.uuid, rows.by_id)


def read(table: PlacementTable, spec: 'objects.RequestSpec'
         ) -> PointedRequest:
    """The request with its group, which ``GroupCache.read_for`` reads. An
    error is stored in the result. The state of all exclusive groups is kept in
    ``request_memory``."""
    try:
        pointer = Pointer.from_hints(spec.scheduler_hints)
        if pointer is None:
            return PointedRequest(spec)
        found, alternates, exclusive = table.group_cache.read_for(
            pointer.group, pointer.member)
        request_memory.put(request_memory.EXCLUSIVE_STATE, exclusive)
        return PointedRequest(spec, found, alternates)
    except (RequestRefused, errors.TableError) as error:
        return PointedRequest(spec, error=error)
