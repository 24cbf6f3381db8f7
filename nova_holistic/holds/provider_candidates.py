# SPDX-License-Identifier: Apache-2.0
"""Reads the allocations that are possible for a member on one host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib import parse

from nova_holistic.holds import placement_responses
from nova_holistic.holds.independent_parts import (
    independent_parts, numbered)
from nova_holistic.holds.requests import Requests
from nova_holistic.model.cloud.member_traits import HOST_ONLY
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.provider_allocation import ProviderAllocation

MOST = 1000
"""Maximum number of candidates in a response, equal to the default of Nova's
``max_placement_results``."""

Amounts = Mapping[tuple[str, str], int]
"""Amounts by UUID of the provider and resource class."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The allocations that Placement proposes for one member on one host.

    :ivar parts: parts of the member's request, each with its possible
        allocations. The member needs one allocation of each part. Parts with
        the same resources and traits have the same list. If the member has
        several parts, the mappings contain the position of each group in its
        part instead of its suffix
    :ivar free: free capacity of the providers of the host
    """

    parts: Sequence[tuple[Requirements, Sequence[ProviderAllocation]]]
    free: Amounts


def read_candidates(requests: Requests, provider: str,
                    wanted: Requirements) -> Candidates:
    """Read Placement's proposals, in one request for each part that differs.

    :param provider: UUID of the root provider of the host
    :raises HoldsError: Placement does not respond, or its response is
        unexpected
    """
    read: dict[Requirements, Sequence[ProviderAllocation]] = {}
    free: dict[tuple[str, str], int] = {}
    found = []
    parts = independent_parts(wanted)
    for part in parts:
        key = numbered(part) if len(parts) > 1 else part
        if key not in read:
            read[key], capacity = _read(requests, provider, key)
            free.update(capacity)
        found.append((part, read[key]))
    return Candidates(found, free)


def _read(requests: Requests, provider: str, wanted: Requirements
          ) -> tuple[Sequence[ProviderAllocation], Amounts]:
    # Placement refuses ``in_tree`` without resources for the same suffix.
    suffix = ('' if any(wanted.resources.values())
              else wanted.request_groups[0].suffix)
    query = parse.urlencode([*_query(wanted), (f'in_tree{suffix}', provider),
                             ('limit', MOST)])
    response = requests.call('get', f'/allocation_candidates?{query}')
    found = placement_responses.document(response)
    return (
        [ProviderAllocation.from_placement(request)
         for request in found['allocation_requests']],
        {(uuid, name): amounts['capacity'] - amounts['used']
         for uuid, summary in found['provider_summaries'].items()
         for name, amounts in summary['resources'].items()})


def _query(wanted: Requirements) -> Sequence[tuple[str, str]]:
    """The query parameters of a part. As in Nova's requests, the providers of
    the resources outside groups have the traits outside groups together.
    Without such resources, the root provider has them."""
    found = [('resources', _amounts(wanted.resources))]
    together = bool(any(wanted.resources.values()))
    for key, of_root in ('required', False), ('root_required', True):
        traits = _traits(*(
            {each for each in some if of_root == (
                not together or each.startswith(HOST_ONLY))}
            for some in (wanted.required_traits, wanted.forbidden_traits)))
        if traits:
            found.append((key, traits))
    for each in wanted.request_groups:
        found.append((f'resources{each.suffix}', _amounts(each.resources)))
        traits = _traits(each.required_traits, each.forbidden_traits)
        if traits:
            found.append((f'required{each.suffix}', traits))
    if len(wanted.request_groups) > 1:
        found.append(('group_policy', wanted.group_policy))
    found += [('same_subtree', ','.join(sorted(each)))
              for each in wanted.same_subtree]
    return [(key, value) for key, value in found if value]


def _amounts(resources: Mapping[str, int]) -> str:
    return ','.join(f'{name}:{amount}' for name, amount
                    in sorted(resources.items()) if amount)


def _traits(required: frozenset[str], forbidden: frozenset[str]) -> str:
    return ','.join([*sorted(required),
                     *(f'!{trait}' for trait in sorted(forbidden))])
