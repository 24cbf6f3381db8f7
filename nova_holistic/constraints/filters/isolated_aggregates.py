# SPDX-License-Identifier: Apache-2.0
"""isolate_aggregates: an aggregate that requires traits accepts only servers
whose flavor or image requires them."""

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)

_TRAIT = 'trait:'


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    if not options.enable_isolated_aggregate_filtering or (
            request.flavor is None):
        return None
    closed = frozenset(
        uuid for uuid, metadata in aggregates.items()
        if any(key.startswith(_TRAIT) and value == 'required'
               and key.removeprefix(_TRAIT) not in request.traits
               for key, value in metadata.items()))
    if not closed:
        return None

    def admits(facts: HostFacts) -> bool:
        return closed.isdisjoint(facts.host.aggregates)

    return admits
