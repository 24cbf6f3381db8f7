# SPDX-License-Identifier: Apache-2.0
"""The providers of one host that could give a member its resources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib import parse

from nova_holistic.holds import placement_responses
from nova_holistic.holds.requests import Requests
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import NONE
from nova_holistic.table.provider_allocation import ProviderAllocation

MOST = 1000
"""Number of candidates that are requested, as Nova's
``max_placement_results``."""

Amounts = Mapping[tuple[str, str], int]
"""By UUID of the provider and resource class."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What Placement proposes for one member on one host.

    :ivar parts: a member needs one allocation of each part. Parts that do not
        differ in their resources and traits have the same list
    :ivar free: free capacity of the providers of the host
    """

    parts: Sequence[tuple[Requirements, Sequence[ProviderAllocation]]]
    free: Amounts


def read_candidates(requests: Requests, provider: str,
                    wanted: Requirements) -> Candidates:
    """Placement's proposals, in one request for each part that differs.

    :param provider: UUID of the root provider of the host
    :raises HoldsError: Placement does not answer as expected
    """
    read: dict[Requirements, Sequence[ProviderAllocation]] = {}
    free: dict[tuple[str, str], int] = {}
    found = []
    for part in independent_parts(wanted):
        key = _without_suffix(part)
        if key not in read:
            read[key], capacity = _read(requests, provider, part)
            free.update(capacity)
        found.append((part, read[key]))
    return Candidates(found, free)


def independent_parts(wanted: Requirements) -> Sequence[Requirements]:
    """Parts of a request whose providers do not depend on each other.

    Of eight devices, Placement would propose each order in which a member can
    have them, and these are more than it returns.
    """
    groups = wanted.request_groups
    if len(groups) < 2 or wanted.group_policy != NONE:
        return [wanted]
    return [
        *([replace(wanted, request_groups=())]
          if any(wanted.resources.values()) else []),
        *(Requirements(request_groups=(each,)) for each in groups)]


def merged(parts: Sequence[Requirements],
           chosen: Sequence[ProviderAllocation]) -> ProviderAllocation:
    """One allocation for all parts of a member.

    :param chosen: an allocation for each part
    """
    if len(parts) == 1:
        return chosen[0]
    resources: dict[str, dict[str, int]] = {}
    mappings: dict[str, tuple[str, ...]] = {}
    for part, allocation in zip(parts, chosen):
        for provider, amounts in allocation.resources.items():
            all_of_it = resources.setdefault(provider, {})
            for name, amount in amounts.items():
                all_of_it[name] = all_of_it.get(name, 0) + amount
        (providers,) = allocation.mappings.values()
        mappings[_suffix(part)] = providers
    return ProviderAllocation(FrozenMapping({
        provider: FrozenMapping(amounts)
        for provider, amounts in resources.items()}), FrozenMapping(mappings))


def split(allocation: ProviderAllocation, part: Requirements,
          parts: int) -> ProviderAllocation:
    """What an allocation of a member contains for one of its parts.

    :param parts: number of parts of the member
    """
    if parts == 1:
        return allocation
    providers = allocation.mappings[_suffix(part)]
    amounts = (part.request_groups[0].resources if part.request_groups
               else part.resources)
    return ProviderAllocation(FrozenMapping({
        provider: FrozenMapping({
            name: amounts[name] for name in allocation.resources[provider]
            if amounts.get(name)})
        for provider in providers}), FrozenMapping({
            _suffix(part): providers}))


def _suffix(part: Requirements) -> str:
    return part.request_groups[0].suffix if part.request_groups else ''


def _without_suffix(part: Requirements) -> Requirements:
    return replace(part, request_groups=tuple(
        replace(each, suffix='') for each in part.request_groups))


def _read(requests: Requests, provider: str, wanted: Requirements
          ) -> tuple[Sequence[ProviderAllocation], Amounts]:
    # Placement refuses this for a group without resources.
    suffix = ('' if any(wanted.resources.values())
              else wanted.request_groups[0].suffix)
    query = parse.urlencode([*_query(wanted), (f'in_tree{suffix}', provider),
                             ('limit', MOST)])
    response = requests.call('get', f'/allocation_candidates?{query}')
    if response.status_code != 200:
        raise placement_responses.unexpected(response)
    found = response.json()
    return (
        [ProviderAllocation.from_placement(each)
         for each in found['allocation_requests']],
        {(uuid, name): amounts['capacity'] - amounts['used']
         for uuid, summary in found['provider_summaries'].items()
         for name, amounts in summary['resources'].items()})


def _query(wanted: Requirements) -> Sequence[tuple[str, str]]:
    """Traits outside groups are those of the host, as in the plan."""
    found = [('resources', _amounts(wanted.resources))]
    traits = _traits(wanted.required_traits, wanted.forbidden_traits)
    if traits:
        found.append(('root_required', traits))
    for each in wanted.request_groups:
        found.append((f'resources{each.suffix}', _amounts(each.resources)))
        traits = _traits(each.required_traits, each.forbidden_traits)
        if traits:
            found.append((f'required{each.suffix}', traits))
    if len(wanted.request_groups) > 1:
        found.append(('group_policy', wanted.group_policy))
    return [(key, value) for key, value in found if value]


def _amounts(resources: Mapping[str, int]) -> str:
    return ','.join(f'{name}:{amount}' for name, amount
                    in sorted(resources.items()) if amount)


def _traits(required: frozenset[str], forbidden: frozenset[str]) -> str:
    return ','.join([*sorted(required),
                     *(f'!{trait}' for trait in sorted(forbidden))])
