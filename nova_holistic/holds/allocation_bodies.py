# SPDX-License-Identifier: Apache-2.0
"""Bodies of requests to Placement: the allocations of holds and instances."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.table.records import MemberRecord, Place

HOLD = 'HOLISTIC_HOLD'
INSTANCE = 'INSTANCE'
FIRST_GENERATION = 1
"""Placement's generation of a consumer that was written once: of a hold, and
of an instance that got its allocation by a swap and nothing since."""

Allocations = Mapping[str, Mapping[str, Mapping[str, int]]]


def emptied_hold(project_id: str, user_id: str) -> Mapping[str, Any]:
    """A hold that was put, and not touched since, gives its room back."""
    return {'allocations': {}, 'project_id': project_id, 'user_id': user_id,
            'consumer_generation': FIRST_GENERATION, 'consumer_type': HOLD}


def of_instance(hold: Mapping[str, Any], member: MemberRecord,
                place: Place | None, owner: tuple[str, str]
                ) -> dict[str, Any]:
    """The allocation of the instance that takes over from a hold."""
    project_id, user_id = owner
    planned = {key: hold[key] for key in hold if key != 'mappings'}
    return {**planned, **allocated(member, place),
            'project_id': project_id, 'user_id': user_id,
            'consumer_type': INSTANCE}


def emptied(consumer: Mapping[str, Any],
            generation: int | None) -> dict[str, Any]:
    """A consumer that gives up its allocation.

    :param consumer: as it was filled
    """
    owner = {key: consumer[key] for key in consumer if key != 'mappings'}
    return {**owner, 'allocations': {}, 'consumer_generation': generation}


def allocations(member: MemberRecord,
                place: Place | None = None) -> Allocations:
    """What the member takes, as Placement writes it; it knows no zeros.

    :param place: where, if it is not where the member is planned
    """
    chosen = (place or member.place).allocation
    if chosen is not None:
        return chosen.to_placement()['allocations']
    resources = {name: amount for name, amount
                 in member.member.requirements.resources.items() if amount}
    return {(place or member.place).provider: {'resources': resources}}


def allocated(member: MemberRecord,
              place: Place | None = None) -> dict[str, Any]:
    """What the member takes, with the providers of each request group if the
    root provider does not give all."""
    chosen = (place or member.place).allocation
    if chosen is not None:
        return chosen.to_placement()
    return {'allocations': allocations(member, place)}


def same(found: Mapping[str, Any], wanted: Allocations) -> bool:
    """Whether a consumer has the wanted allocations and no others."""
    return wanted == {
        provider: {'resources': allocation['resources']}
        for provider, allocation in found['allocations'].items()}
