# SPDX-License-Identifier: Apache-2.0
"""require_tenant_aggregate: servers of a project that aggregates name are
placed only on hosts of these aggregates."""

from nova_holistic.constraints.filters import (
    aggregate_multitenancy_isolation as multitenancy)
from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    if (not options.limit_tenants_to_placement_aggregate
            or request.project_id is None):
        return None
    # Unlike its filter, Nova compares complete values here.
    own = frozenset(
        uuid for uuid, metadata in aggregates.items()
        if request.project_id in metadata.values() and any(
            key.startswith(multitenancy.KEY) for key in metadata))
    if not own and not options.placement_aggregate_required_for_tenants:
        return None

    def admits(facts: HostFacts) -> bool:
        return not own.isdisjoint(facts.host.aggregates)

    return admits
