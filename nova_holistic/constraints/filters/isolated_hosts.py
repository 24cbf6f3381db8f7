# SPDX-License-Identifier: Apache-2.0
"""IsolatedHostsFilter: servers of the images in nova.conf are placed on the
hosts in nova.conf, and servers of other images on other hosts."""

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    hosts, images = options.isolated_hosts, options.isolated_images
    restrict = options.restrict_isolated_hosts_to_isolated_images
    image = request.image
    if images and image is None:
        return None
    isolated = image is not None and image.id in images
    if isolated and request.volume:
        # Nova knows the image of a root volume that it creates itself, but
        # not the image of an existing volume. The description does not
        # distinguish them.
        return None
    if not isolated and not restrict:
        return None

    def admits(facts: HostFacts) -> bool:
        return (facts.host.name in hosts) == isolated

    return admits
