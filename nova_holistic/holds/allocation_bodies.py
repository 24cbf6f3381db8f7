# SPDX-License-Identifier: Apache-2.0
"""The consumers in the bodies of requests to Placement: holds and
instances."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.table.records import MemberRecord, Place

HOLD = 'HOLISTIC_HOLD'
INSTANCE = 'INSTANCE'
FIRST_GENERATION = 1
"""Placement's generation of a consumer that was written once: a hold, or an
instance whose allocation has not changed since the exchange of the hold."""

Allocations = Mapping[str, Mapping[str, Mapping[str, int]]]


def emptied_hold(project_id: str, user_id: str) -> Mapping[str, Any]:
    """A hold without its allocation. Placement accepts this change only if the
    hold has not changed since it was put."""
    return {'allocations': {}, 'project_id': project_id, 'user_id': user_id,
            'consumer_generation': FIRST_GENERATION, 'consumer_type': HOLD}


def of_instance(hold: Mapping[str, Any], member: MemberRecord,
                place: Place | None, owner: tuple[str, str]
                ) -> dict[str, Any]:
    """The instance that gets its allocation in exchange for a hold.

    :param hold: the hold as it was put
    :param place: place of the instance; None means the place of the member
    :param owner: project and user of the instance
    """
    project_id, user_id = owner
    planned = {key: hold[key] for key in hold if key != 'mappings'}
    return {**planned, **allocated(member, place),
            'project_id': project_id, 'user_id': user_id,
            'consumer_type': INSTANCE}


def emptied(consumer: Mapping[str, Any],
            generation: int | None) -> dict[str, Any]:
    """A consumer without its allocation.

    :param consumer: the consumer with its allocation
    :param generation: current generation of the consumer
    """
    owner = {key: consumer[key] for key in consumer if key != 'mappings'}
    return {**owner, 'allocations': {}, 'consumer_generation': generation}


def allocations(member: MemberRecord,
                place: Place | None = None) -> Allocations:
    """The allocations of a member in the format of Placement, which does not
    accept amounts of zero.

    :param place: place of the allocation; None means the member's place
    """
    chosen = (place or member.place).allocation
    if chosen is not None:
        return chosen.to_placement()['allocations']
    resources = {name: amount for name, amount
                 in member.member.requirements.resources.items() if amount}
    return {(place or member.place).provider: {'resources': resources}}


def allocated(member: MemberRecord,
              place: Place | None = None) -> dict[str, Any]:
    """The allocations of a member as part of a consumer. They contain the
    mappings of request groups if the root provider does not provide all
    resources."""
    chosen = (place or member.place).allocation
    if chosen is not None:
        return chosen.to_placement()
    return {'allocations': allocations(member, place)}


def same(found: Mapping[str, Any], wanted: Allocations) -> bool:
    """Whether a consumer has the wanted allocations and no others."""
    return wanted == {
        provider: {'resources': allocation['resources']}
        for provider, allocation in found['allocations'].items()}
