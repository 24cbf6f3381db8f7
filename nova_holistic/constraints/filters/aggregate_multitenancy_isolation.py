# SPDX-License-Identifier: Apache-2.0
"""AggregateMultiTenancyIsolation: a host in aggregates that name projects
accepts only servers of these projects."""

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)

KEY = 'filter_tenant_id'
"""Prefix of the metadata keys that name projects."""


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    named = any(key.startswith(KEY) for metadata in aggregates.values()
                for key in metadata)
    if not named or request.project_id is None:
        return None

    def admits(facts: HostFacts) -> bool:
        projects = frozenset[str]().union(*(
            values for key, values in facts.metadata.items()
            if key.startswith(KEY)))
        return not projects or request.project_id in projects

    return admits
