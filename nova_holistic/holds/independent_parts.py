# SPDX-License-Identifier: Apache-2.0
"""Parts of a member's request whose providers do not depend on each other.

If a member requests eight devices, Placement proposes each order of the
devices, which are more candidates than it returns. Therefore the engine
requests each part that differs, and joins the parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import ISOLATE, RequestGroup
from nova_holistic.table.provider_allocation import ProviderAllocation


def independent_parts(wanted: Requirements) -> Sequence[Requirements]:
    """The parts of a member's request.

    Resources outside groups are one part. Groups are in the same part if they
    must be in the same subtree.

    With ``group_policy: isolate``, different parts that have groups must come
    from different providers, too: see ``is_isolated``.
    """
    if len(wanted.request_groups) < 2:
        return [wanted]
    return [
        *([replace(wanted, request_groups=(), same_subtree=())]
          if any(wanted.resources.values()) else []),
        *(Requirements(
            request_groups=groups, group_policy=wanted.group_policy,
            same_subtree=tuple(
                each for each in wanted.same_subtree
                if each & {group.suffix for group in groups}))
          for groups in _connected(wanted))]


def is_isolated(part: Requirements) -> bool:
    """Whether the providers of this part must differ from those of all other
    parts of the member with groups."""
    return bool(part.request_groups) and part.group_policy == ISOLATE


def numbered(part: Requirements) -> Requirements:
    """The part with the positions of its groups as suffixes. Parts that
    request the same are equal."""
    numbers = {each.suffix: str(number)
               for number, each in enumerate(part.request_groups)}
    return replace(
        part, request_groups=tuple(
            replace(each, suffix=numbers[each.suffix])
            for each in part.request_groups),
        same_subtree=tuple(
            frozenset(numbers[suffix] for suffix in each)
            for each in part.same_subtree))


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
            _add(resources.setdefault(provider, {}), amounts)
        names = [requested.suffix for requested in part.request_groups]
        mappings.update({
            names[int(suffix)] if suffix else '': providers
            for suffix, providers in allocation.mappings.items()})
    return _allocation(resources, mappings)


def split(allocation: ProviderAllocation, part: Requirements,
          parts: int) -> ProviderAllocation:
    """The share of one part in an allocation of a member. Its mappings have
    the positions of the groups as suffixes: see ``numbered``.

    :param parts: number of parts of the member
    """
    if parts == 1:
        return allocation
    resources: dict[str, dict[str, int]] = {}
    mappings: dict[str, tuple[str, ...]] = {}
    if not part.request_groups:
        mappings[''] = allocation.mappings['']
        for provider in mappings['']:
            _add(resources.setdefault(provider, {}), {
                name: part.resources[name]
                for name in allocation.resources[provider]
                if part.resources.get(name)})
    for number, group in enumerate(part.request_groups):
        # A group has one provider.
        (provider,) = mappings[str(number)] = allocation.mappings[group.suffix]
        _add(resources.setdefault(provider, {}), group.resources)
    return _allocation(resources, mappings)


def _connected(wanted: Requirements) -> Sequence[tuple[RequestGroup, ...]]:
    """The sets of groups that ``same_subtree`` connects."""
    found = {each.suffix: frozenset([each.suffix])
             for each in wanted.request_groups}
    for suffixes in wanted.same_subtree:
        joined = frozenset().union(*(found[each] for each in suffixes))
        found.update(dict.fromkeys(joined, joined))
    return [tuple(sorted((each for each in wanted.request_groups
                          if each.suffix in suffixes), key=_content))
            for suffixes in dict.fromkeys(found.values())]


def _content(group: RequestGroup) -> tuple:
    return (sorted(group.resources.items()), sorted(group.required_traits),
            sorted(group.forbidden_traits))


def _add(total: dict[str, int], amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _allocation(resources: Mapping[str, Mapping[str, int]],
                mappings: Mapping[str, tuple[str, ...]]
                ) -> ProviderAllocation:
    return ProviderAllocation(FrozenMapping({
        provider: FrozenMapping(amounts)
        for provider, amounts in resources.items() if amounts}),
        FrozenMapping(mappings))
