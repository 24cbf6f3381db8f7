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
import operator

from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping


def shared_with(own: Collection[str], providers: Collection[NestedProvider]
                ) -> tuple[NestedProvider, ...]:
    """The sharing providers that a host uses, each with the classes that the
    host uses.

    :param own: resource classes of which the host's own providers have
        capacity
    :param providers: all providers that share their resources with it
    """
    found = []
    for each in providers:
        names = [name for name in each.inventories if name not in own
                 and _largest(providers, name) is each]
        if names:
            found.append(
                each if len(names) == len(each.inventories)
                else replace(each, inventories=FrozenMapping({
                    name: each.inventories[name] for name in names})))
    return tuple(found)


def with_shared_resources(host: Host, providers: Sequence[NestedProvider]
                          ) -> Host:
    """The host with the sharing providers that it uses; the same object if
    they have not changed.

    :param host: the host with or without sharing providers
    :param providers: all providers that share their resources with it
    """
    below = tuple(each for each in host.providers if not each.sharing)
    own = {name for inventories in (
        host.inventories, *(each.inventories for each in below))
        for name, inventory in inventories.items() if inventory.capacity > 0}
    shared = shared_with(own, providers)
    found = (*below, *shared)
    # A provider of which the host uses some classes only is a new object.
    same = operator.is_ if all(
        any(each is other for other in providers) for each in shared
    ) else operator.eq
    if len(found) == len(host.providers) and all(
            map(same, found, host.providers)):
        return host
    return replace(host, providers=found)


def _largest(providers: Collection[NestedProvider],
             name: str) -> NestedProvider:
    if len(providers) == 1:
        return next(iter(providers))
    # The UUID decides between equal capacities, so that all readings agree.
    return max((each for each in providers if name in each.inventories),
               key=lambda each: (each.inventories[name].capacity, each.uuid))
