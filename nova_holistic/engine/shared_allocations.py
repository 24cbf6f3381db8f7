# SPDX-License-Identifier: Apache-2.0
"""The part of a member's allocation that comes from sharing providers.

Placement does not propose sharing providers for a given host. A host uses one
provider for each shared resource class, so the engine needs no proposal.
"""

from collections.abc import Mapping
from collections import defaultdict
from dataclasses import dataclass, replace

from nova_holistic.model.cloud.member_traits import of_other_providers
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import ISOLATE, RequestGroup
from nova_holistic.table.provider_allocation import ProviderAllocation


@dataclass(frozen=True, slots=True)
class Shares:
    """What the sharing providers of a host give to a member.

    :ivar resources: amounts by UUID of the provider and resource class
    :ivar classes: resource classes that the member requests outside request
        groups
    :ivar groups: suffixes of request groups, each with the UUID of its
        provider
    :ivar traits: traits of the providers of these resource classes
    """

    resources: Mapping[str, Mapping[str, int]]
    classes: frozenset[str]
    groups: Mapping[str, str]
    traits: frozenset[str] = frozenset()


def shares_of(wanted: Requirements, host: Host) -> Shares:
    """What the sharing providers of the host give to a member."""
    resources: defaultdict[str, defaultdict[str, int]] = defaultdict(
        lambda: defaultdict(int))
    classes, groups, traits = set(), {}, set()
    for provider in host.providers:
        if not provider.sharing:
            continue
        for name in provider.inventories:
            if wanted.resources.get(name):
                resources[provider.uuid][name] += wanted.resources[name]
                classes.add(name)
                traits |= of_other_providers(provider.traits)
        for group in wanted.request_groups:
            if _serves(provider, group, wanted):
                groups[group.suffix] = provider.uuid
                for name, amount in group.resources.items():
                    resources[provider.uuid][name] += amount
    return Shares(resources, frozenset(classes), groups, frozenset(traits))


def _serves(provider: NestedProvider, group: RequestGroup,
            wanted: Requirements) -> bool:
    """Whether a sharing provider serves a request group. Placement chooses the
    providers of groups that are isolated or must be in one subtree."""
    return (bool(group.resources)
            and group.resources.keys() <= provider.inventories.keys()
            and group.required_traits <= provider.traits
            and group.forbidden_traits.isdisjoint(provider.traits)
            and wanted.group_policy != ISOLATE
            and not any(group.suffix in each for each in wanted.same_subtree))


def without_shared_resources(wanted: Requirements,
                             shares: Shares) -> Requirements:
    """What a member requests of its host without the sharing providers."""
    if not shares.resources:
        return wanted
    return replace(
        wanted, required_traits=wanted.required_traits - shares.traits,
        resources=FrozenMapping({
            name: amount for name, amount in wanted.resources.items()
            if name not in shares.classes}),
        request_groups=tuple(each for each in wanted.request_groups
                             if each.suffix not in shares.groups))


def without_sharing_providers(host: Host) -> Host:
    """The host with its own providers only."""
    return replace(host, providers=tuple(
        each for each in host.providers if not each.sharing))


def of_root(wanted: Requirements, provider: str) -> ProviderAllocation:
    """The allocation of a member that uses only a root provider.

    :param provider: UUID of the root provider
    """
    amounts = FrozenMapping({name: amount for name, amount
                             in wanted.resources.items() if amount})
    return ProviderAllocation(
        FrozenMapping({provider: amounts} if amounts else {}),
        FrozenMapping({'': (provider,) if amounts else ()}))


def with_shares(allocation: ProviderAllocation,
                shares: Shares) -> ProviderAllocation:
    """The allocation together with that of the sharing providers."""
    if not shares.resources:
        return allocation
    resources = {uuid: dict(amounts)
                 for uuid, amounts in allocation.resources.items()}
    for uuid, amounts in shares.resources.items():
        of_provider = resources.setdefault(uuid, {})
        for name, amount in amounts.items():
            of_provider[name] = of_provider.get(name, 0) + amount
    outside = [uuid for uuid, amounts in shares.resources.items()
               if shares.classes & amounts.keys()]
    return ProviderAllocation(
        FrozenMapping({uuid: FrozenMapping(amounts)
                       for uuid, amounts in resources.items()}),
        FrozenMapping({
            **allocation.mappings,
            '': tuple(dict.fromkeys((
                *allocation.mappings.get('', ()), *outside))),
            **{suffix: (uuid,) for suffix, uuid in shares.groups.items()}}))


def of_own_providers(allocation: ProviderAllocation,
                     host: Host) -> ProviderAllocation:
    """The part of an allocation that comes from the host's own providers.
    Sharing providers may have changed since the allocation was made."""
    own = {host.uuid, *(each.uuid for each in host.providers
                        if not each.sharing)}
    return ProviderAllocation(
        FrozenMapping({uuid: amounts for uuid, amounts
                       in allocation.resources.items() if uuid in own}),
        FrozenMapping({
            suffix: tuple(uuid for uuid in providers if uuid in own)
            for suffix, providers in allocation.mappings.items()
            if not suffix or own.issuperset(providers)}))
