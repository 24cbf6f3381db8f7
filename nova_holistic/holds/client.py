# SPDX-License-Identifier: Apache-2.0
"""Holds: allocations in Placement that reserve capacity for members."""

from collections.abc import Callable, Collection, Mapping, Sequence
import time
from typing import Any

from nova_holistic.holds.allocation_bodies import (
    allocated, allocations, emptied_hold, FIRST_GENERATION, HOLD, of_instance,
    same)
from nova_holistic.holds.allocation_moves import AllocationMoves
from nova_holistic.holds.batched_holds import BatchedHolds, Holds, Note
from nova_holistic.holds import errors, placement_responses, retry_policy
from nova_holistic.holds.instance_allocations import InstanceAllocations
from nova_holistic.holds.provider_candidates import (
    Candidates, read_candidates)
from nova_holistic.holds.requests import Requests
from nova_holistic.metrics.instruments import HOLD_SECONDS
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.records import MemberRecord, Place

PART_SIZE = 100
"""Default maximum number of holds in one request: see ``[holds]
part_size``."""

Replan = Callable[[Collection[str], Collection[str]],
                  Sequence[MemberRecord] | None]
"""Receives the holds that are written, and those of a part that Placement has
refused. Returns all members to hold in addition to the held members, or None
to drop all holds."""


class HoldClient:
    """The only class that writes holds. A POST /allocations changes all of its
    consumers or none. The holds of a large group require several of them.

    All methods raise HoldsError if Placement does not respond. It is then
    unknown whether the change was made.
    """

    def __init__(self, placement, owner: tuple[str, str] | None = None,
                 sleep: retry_policy.Sleep = time.sleep,
                 part_size: int = PART_SIZE):
        """:param placement: keystoneauth Adapter for the placement service
        :param owner: project and user of every hold; None keeps each hold
            under the project and user of its group
        :param sleep: waits between two attempts at one change
        :param part_size: maximum number of holds that one request puts or
            drops
        """
        self._requests = Requests(placement, sleep)
        self._in_parts = BatchedHolds(self._requests, part_size, sleep)
        self._instances = InstanceAllocations(self._requests, sleep)
        self._moves = AllocationMoves(self._requests, sleep)
        self._owner = owner
        self._sleep = sleep

    @classmethod
    def from_conf(cls, conf, placement) -> 'HoldClient':
        """Create a client from the options in [holds].

        :raises HoldsError: a required project or user is missing
        """
        service = conf.holds.project == 'service'
        owner = (conf.holds.project_id, conf.holds.user_id)
        if service and not all(owner):
            raise errors.HoldsError(
                '[holds] project = service needs project_id and user_id')
        return cls(placement, owner if service else None,
                   part_size=conf.holds.part_size)

    @HOLD_SECONDS.of(operation='put')
    def put(self, members: Sequence[MemberRecord], project_id: str,
            user_id: str, note: Note | None = None,
            replan: Replan | None = None) -> None:
        """Hold the places of all members, or of none.

        :param note: receives the number of existing holds whenever it has
            changed and the work is not finished
        :param replan: may choose other places for members that are not held
            yet if Placement refuses some of them
        :raises CapacityUnavailable: the capacity for all of them is no longer
            available
        """
        def bodies(rows: Sequence[MemberRecord]) -> Holds:
            return {m.hold: self._hold(m, project_id, user_id) for m in rows}

        def other_holds(written: Collection[str],
                        refused: Collection[str]) -> Holds | None:
            others = replan and replan(written, refused)
            return None if others is None else bodies(others)

        self._in_parts.put(bodies(members), note, other_holds)

    @HOLD_SECONDS.of(operation='drop')
    def drop(self, holds: Collection[str], project_id: str | None = None,
             user_id: str | None = None) -> None:
        """Ensure that none of the holds exists.

        :param project_id: project of all holds; None if it is unknown or
            differs, which requires more requests
        :param user_id: user of all holds, like ``project_id``
        """
        self._in_parts.drop(holds, self._owner or (project_id, user_id))

    @HOLD_SECONDS.of(operation='exchange')
    def exchange(self, emptied: Collection[str],
                 filled: Sequence[MemberRecord], project_id: str,
                 user_id: str) -> None:
        """Empty some holds and hold the places of other members, in one POST.

        Some of the emptied holds may not exist any longer. A repeated call
        finds that the change is done.

        :param emptied: holds to empty
        :param filled: members to hold
        :raises CapacityUnavailable: the capacity is not available, even
            without the emptied holds
        """
        owner = self._owner or (project_id, user_id)
        taken = {m.hold: self._hold(m, project_id, user_id) for m in filled}
        given = dict.fromkeys(emptied, FIRST_GENERATION)

        def attempt() -> bool:
            nonlocal given
            if self._requests.post({**taken, **{
                    hold: {**emptied_hold(*owner),
                           'consumer_generation': number}
                    for hold, number in given.items()}}):
                return True
            if self.exists(filled[0].hold) is not None:
                return True
            found = {hold: self.exists(hold) for hold in given}
            given = {hold: there['consumer_generation']
                     for hold, there in found.items() if there is not None}
            return False

        retry_policy.retry_or_raise(attempt, self._sleep)

    def candidates(self, provider: str, wanted: Requirements) -> Candidates:
        """See ``provider_candidates.read_candidates``."""
        return read_candidates(self._requests, provider, wanted)

    def exists(self, consumer: str) -> Mapping[str, Any] | None:
        """A consumer's allocations, or None: see ``Requests.read``."""
        return self._requests.read(consumer)

    def consumers(self, provider: str) -> Collection[str]:
        """Consumers with an allocation at a provider; none if it is deleted.
        """
        return self.resources(provider).keys()

    def resources(self, provider: str) -> Mapping[str, Mapping[str, int]]:
        """Amounts by resource class, by UUID of the consumer, that are
        allocated at a provider; empty if the provider is deleted."""
        response = self._requests.call(
            'get', f'/resource_providers/{provider}/allocations')
        if response.status_code == 404:
            return {}
        return {consumer: allocation['resources'] for consumer, allocation
                in placement_responses.document(
                    response)['allocations'].items()}

    def providers(self, tree: str = '') -> Mapping[str, int]:
        """Generation of every resource provider, by its UUID.

        Placement raises the generation of a provider with each new
        allocation there, but not when an allocation is deleted.

        :param tree: UUID of a provider of a tree; '' means all trees
        """
        query = f'?in_tree={tree}' if tree else ''
        found = placement_responses.document(self._requests.call(
            'get', f'/resource_providers{query}'))
        return {provider['uuid']: provider['generation']
                for provider in found['resource_providers']}

    def empty(self, hold: str, found: Mapping[str, Any]) -> bool:
        """Empty a hold if it has not changed since it was read.

        :param found: the result of ``exists``
        """
        return self._requests.post({hold: {
            **emptied_hold(found['project_id'], found['user_id']),
            'consumer_generation': found['consumer_generation']}})

    def restore(self, instance_uuid: str, before: Mapping[str, Any] | None
                ) -> None:
        """Give an instance its previous allocations: see
        ``InstanceAllocations.restore``."""
        self._instances.restore(instance_uuid, before)

    @HOLD_SECONDS.of(operation='withdraw')
    def withdraw(self, instance_uuid: str, project_id: str,
                 user_id: str) -> None:
        """Remove the allocations of an instance that is never built, also
        those that Placement would write later: see
        ``InstanceAllocations.withdraw``."""
        self._instances.withdraw(instance_uuid, project_id, user_id)

    @HOLD_SECONDS.of(operation='allocate')
    def allocate(self, member: MemberRecord, instance_uuid: str,
                 project_id: str, user_id: str,
                 place: Place | None = None) -> None:
        """Give the instance the member's allocation, without a hold.

        :param place: place of the allocation; None means the member's place
        :raises AllocationChanged: the instance has another allocation
        :raises CapacityUnavailable: the capacity or the host is not available
        """
        self._instances.allocate(instance_uuid, of_instance(
            self._hold(member, project_id, user_id), member, place,
            (project_id, user_id)))

    @HOLD_SECONDS.of(operation='swap')
    def swap(self, member: MemberRecord, instance_uuid: str, project_id: str,
             user_id: str, place: Place | None = None) -> None:
        """Exchange the hold for the instance's allocation.

        This takes one POST if no other process interferes. A repeated call
        finds that the change is done.

        :param place: place of the instance; None means the place of the hold
        :raises AllocationChanged: the hold or the instance has another one
        :raises HoldMissing: neither has the allocation
        :raises CapacityUnavailable: the capacity or the host is not available
        """
        hold = self._hold(member, project_id, user_id)
        self._moves.move((member.hold, hold), (instance_uuid, of_instance(
            hold, member, place, (project_id, user_id))))

    @HOLD_SECONDS.of(operation='unswap')
    def unswap(self, member: MemberRecord, instance_uuid: str,
               project_id: str, user_id: str, place: Place | None = None,
               ) -> None:
        """Exchange the instance's allocation for the hold.

        :param place: place of the instance; None means the place of the hold
        :raises AllocationChanged: the instance or the hold has another one
        :raises HoldMissing: neither has the allocation
        :raises CapacityUnavailable: the capacity for the hold is not available
        """
        hold = self._hold(member, project_id, user_id)
        # Nova also writes this consumer. If Nova has deleted the allocation
        # and has written another one, its generation is the first again.
        self._moves.move((instance_uuid, of_instance(
            hold, member, place, (project_id, user_id))), (member.hold, hold),
            generation=None)

    @HOLD_SECONDS.of(operation='renew')
    def renew(self, member: MemberRecord) -> None:
        """Write the hold of a member again, so that Placement refuses a
        ``swap`` that has got no response and is not carried out yet.

        :raises AllocationChanged: the hold has another allocation
        :raises HoldMissing: the hold does not exist
        :raises CapacityUnavailable: its host has less capacity than before
        """
        self._moves.renew(member.hold, allocations(member))

    def has(self, consumer: str, member: MemberRecord) -> bool:
        """Whether the consumer has exactly the member's allocation."""
        found = self.exists(consumer)
        return found is not None and same(found, allocations(member))

    def _hold(self, member: MemberRecord, project_id: str,
              user_id: str) -> dict[str, Any]:
        project_id, user_id = self._owner or (project_id, user_id)
        return {**allocated(member), 'project_id': project_id,
                'user_id': user_id, 'consumer_generation': None,
                'consumer_type': HOLD}
