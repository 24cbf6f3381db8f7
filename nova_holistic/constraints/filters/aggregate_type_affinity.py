# SPDX-License-Identifier: Apache-2.0
"""AggregateTypeAffinityFilter: a host in aggregates that name flavors accepts
only these flavors."""

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)

KEY = 'instance_type'


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    if request.flavor is None:
        return None

    def admits(facts: HostFacts) -> bool:
        flavors = facts.metadata.get(KEY)
        return flavors is None or request.flavor in flavors

    return admits
