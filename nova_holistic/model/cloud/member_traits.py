# SPDX-License-Identifier: Apache-2.0
"""The traits of a host that count for the resources of a member outside its
request groups.

Placement compares the required traits outside request groups with the traits
of all providers together that give the member resources outside its groups:
the root provider, and nested or sharing providers. None of these providers may
have a forbidden trait. Source:
placement.objects.allocation_candidate._check_traits_for_alloc_request.
"""

from collections.abc import Mapping

from nova_holistic.model.cloud.snapshot import Host

HOST_ONLY = 'COMPUTE_'
"""Nova requires traits that begin with this of the root provider
(``root_required``), because they are capabilities of its virt driver."""


def traits_for(host: Host, resources: Mapping[str, int]) -> frozenset[str]:
    """The traits of the root provider, and of all other providers from which a
    member may get resources outside its request groups.

    :param resources: amounts that the member requests outside its groups
    """
    more = [each.traits for each in host.providers
            if each.traits and any(map(resources.get, each.inventories))]
    return host.traits.union(*map(of_other_providers, more)) if more else (
        host.traits)


def of_other_providers(traits: frozenset[str]) -> frozenset[str]:
    """Those of the traits that need not be traits of the root provider."""
    return frozenset(each for each in traits
                     if not each.startswith(HOST_ONLY))
