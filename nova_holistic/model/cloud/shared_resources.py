# SPDX-License-Identifier: Apache-2.0
"""Resources that providers share with hosts.

A host uses the resources of a sharing provider only of resource classes of
which neither its root provider nor a nested provider has capacity. An
inventory whose total is reserved has no capacity: Placement never allocates it
(placement.objects.research_context.get_providers_with_resource). If several
providers share a class with a host, it uses the provider with the largest
capacity of this class.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping


def shared_with(host: Host, providers: Collection[NestedProvider]
                ) -> tuple[NestedProvider, ...]:
    """The sharing providers that a host uses, each with the classes that the
    host uses.

    :param host: the host without sharing providers
    :param providers: all providers that share their resources with it
    """
    own = {name for inventories in (
        host.inventories, *(each.inventories for each in host.providers))
        for name, inventory in inventories.items() if inventory.capacity > 0}
    return tuple(
        each if len(names) == len(each.inventories)
        else replace(each, inventories=FrozenMapping({
            name: each.inventories[name] for name in names}))
        for each in providers
        if (names := [name for name in each.inventories if name not in own
                      and _largest(providers, name) is each]))


def with_shared_resources(host: Host, providers: Sequence[NestedProvider]
                          ) -> Host:
    """The host with the sharing providers that it uses.

    :param host: the host without sharing providers
    :param providers: all providers that share their resources with it
    """
    found = shared_with(host, providers) if providers else ()
    return replace(host, providers=(*host.providers, *found)
                   ) if found else host


def _largest(providers: Collection[NestedProvider],
             name: str) -> NestedProvider:
    # The UUID decides between equal capacities, so that all readings agree.
    return max((each for each in providers if name in each.inventories),
               key=lambda each: (each.inventories[name].capacity, each.uuid))
