# SPDX-License-Identifier: Apache-2.0
"""ComputeCapabilitiesFilter: extra specs of the flavor match the capabilities
that the host reports.

Nova's API shows only the type and the version of the hypervisor. The planner
learns other capabilities from refusals.
"""

from nova_holistic.constraints.operators import matches
from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)

_SCOPE = 'capabilities:'
_KNOWN = ('hypervisor_type', 'hypervisor_version')


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    # A capability may occur with and without the scope; both values apply.
    capabilities = [
        (_KNOWN.index(name), value)
        for key, value in request.extra_specs.items()
        for name in [key.removeprefix(_SCOPE)] if name in _KNOWN]
    if not capabilities:
        return None

    def admits(facts: HostFacts) -> bool:
        return all(matches(str(facts.host.hypervisor[index]), required)
                   for index, required in capabilities)

    return admits
