# SPDX-License-Identifier: Apache-2.0
"""AggregateInstanceExtraSpecsFilter: extra specs of the flavor match the
metadata of the host's aggregates."""

from nova_holistic.constraints.operators import matches
from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)

_SCOPE = 'aggregate_instance_extra_specs:'


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    # A key may occur with and without the scope; both values apply.
    scoped_specs = [
        (key.removeprefix(_SCOPE), value)
        for key, value in request.extra_specs.items()
        if ':' not in key or key.startswith(_SCOPE)]
    if not scoped_specs:
        return None

    def admits(facts: HostFacts) -> bool:
        return all(
            any(matches(value, required)
                for value in facts.metadata.get(key, ()))
            for key, required in scoped_specs)

    return admits
