# SPDX-License-Identifier: Apache-2.0
"""require_image_type_support: the host supports the disk format of the image.
"""

import os_traits

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)

_PREFIX = 'COMPUTE_IMAGE_TYPE_'


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    if (not options.query_placement_for_image_type_support or request.volume
            or request.image is None or not request.image.disk_format):
        return None
    trait = _PREFIX + request.image.disk_format.upper()
    if not hasattr(os_traits, trait):
        return None

    def admits(facts: HostFacts) -> bool:
        return trait in facts.host.traits

    return admits
