# SPDX-License-Identifier: Apache-2.0
"""default_schedule_zone: a server without a zone is placed in this zone."""

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    zone = options.default_schedule_zone
    if not zone or not request.is_anywhere:
        return None
    if aggregates and not any(metadata.get('availability_zone') == zone
                              for metadata in aggregates.values()):
        # Nova finds the hosts of a zone by aggregates. A zone without one,
        # such as that of hosts outside all zones, does not restrict hosts.
        return None

    def admits(facts: HostFacts) -> bool:
        return facts.host.availability_zone == zone

    return admits
