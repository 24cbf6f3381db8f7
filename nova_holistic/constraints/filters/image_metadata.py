# SPDX-License-Identifier: Apache-2.0
"""transform_image_metadata: the host supports the devices of the image."""

import os_traits

from nova_holistic.constraints.options import NovaOptions
from nova_holistic.constraints.rule import (
    Admits, Aggregates, HostFacts, ServerRequest)
from nova_holistic.model.nova.image_fields import fields_of

_PREFIXES = {
    'hw_cdrom_bus': 'COMPUTE_STORAGE_BUS',
    'hw_disk_bus': 'COMPUTE_STORAGE_BUS',
    'hw_video_model': 'COMPUTE_GRAPHICS_MODEL',
    'hw_vif_model': 'COMPUTE_NET_VIF_MODEL',
    'hw_architecture': 'HW_ARCH',
    'hw_emulation_architecture': 'COMPUTE_ARCH',
    'hw_viommu_model': 'COMPUTE_VIOMMU'}


def host_check(request: ServerRequest, options: NovaOptions,
               aggregates: Aggregates) -> Admits | None:
    """The check of a host for this request; None if the filter accepts every
    host."""
    if not options.image_metadata_prefilter or request.image is None:
        return None
    found = fields_of(request.image.properties)
    traits = frozenset(
        f'{prefix}_{found[key].replace("-", "_").upper()}'
        for key, prefix in _PREFIXES.items() if key in found)
    # If Nova does not know one of the traits, it requires none of them.
    if not traits or not all(hasattr(os_traits, each) for each in traits):
        return None

    def admits(facts: HostFacts) -> bool:
        return traits <= facts.host.traits

    return admits
