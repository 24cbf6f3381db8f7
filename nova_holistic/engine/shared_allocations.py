# SPDX-License-Identifier: Apache-2.0
"""The part of a member's allocation that comes from sharing providers.

Placement does not propose sharing providers for a given host. A host uses one
provider for each shared resource class, so the engine needs no proposal.
"""

from collections.abc import Mapping
from collections import defaultdict
from dataclasses import replace

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.provider_allocation import ProviderAllocation

Shares = Mapping[str, Mapping[str, int]]
"""Amounts by UUID of the sharing provider and resource class."""


def shares_of(wanted: Requirements, host: Host) -> Shares:
    """What the sharing providers of the host give to a member, apart from its
    request groups."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for provider in host.providers:
        for name in provider.inventories if provider.sharing else ():
            if wanted.resources.get(name):
                found[provider.uuid][name] = wanted.resources[name]
    return found


def without_shared_resources(wanted: Requirements,
                             shares: Shares) -> Requirements:
    """What a member requests of its host without the sharing providers."""
    names = {name for amounts in shares.values() for name in amounts}
    return replace(wanted, resources=FrozenMapping({
        name: amount for name, amount in wanted.resources.items()
        if name not in names})) if names else wanted


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
    return _changed(allocation, shares, 1) if shares else allocation


def without_shares(allocation: ProviderAllocation,
                   shares: Shares) -> ProviderAllocation:
    """The allocation without that of the sharing providers."""
    return _changed(allocation, shares, -1) if shares else allocation


def _changed(allocation: ProviderAllocation, shares: Shares,
             sign: int) -> ProviderAllocation:
    resources = {uuid: dict(amounts)
                 for uuid, amounts in allocation.resources.items()}
    for uuid, amounts in shares.items():
        of_provider = resources.setdefault(uuid, {})
        for name, amount in amounts.items():
            of_provider[name] = of_provider.get(name, 0) + sign * amount
    before = allocation.mappings.get('', ())
    providers = [uuid for uuid in before if uuid not in shares]
    return ProviderAllocation(
        FrozenMapping({
            uuid: FrozenMapping(amounts) for uuid, each in resources.items()
            if (amounts := {name: amount for name, amount in each.items()
                            if amount > 0})}),
        FrozenMapping({**allocation.mappings, '': (
            *providers, *(shares if sign > 0 else ()))}))
