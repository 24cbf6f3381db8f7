# SPDX-License-Identifier: Apache-2.0
"""IsolatedHostsFilter: servers of the images in nova.conf are placed on the
hosts in nova.conf, and servers of other images on other hosts."""

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)


def host_check(asked: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    hosts, images = options.isolated_hosts, options.isolated_images
    restrict = options.restrict_isolated_hosts_to_isolated_images
    known = asked.volume or asked.image is not None
    if images and not known:
        return None
    isolated = (not asked.volume and asked.image is not None
                and asked.image.id in images)
    if not isolated and not restrict:
        return None

    def admits(facts: HostFacts) -> bool:
        return (facts.host.name in hosts) == isolated

    return admits
