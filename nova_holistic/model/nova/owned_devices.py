# SPDX-License-Identifier: Apache-2.0
"""PCI devices of a flavor come from providers that Nova manages.

Other services, such as Cyborg, create providers of the same resource classes.
Nova requires the trait ``OWNER_NOVA`` as soon as all computes report it
(nova.scheduler.request_filter.owner_nova_filter).
"""

from dataclasses import replace

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.request_group import PCI_PREFIX

OWNER_NOVA = 'OWNER_NOVA'


def with_owned_devices(flavor: Flavor, snapshot: Snapshot) -> Flavor:
    """The flavor, whose PCI devices require the trait if all hosts have
    it."""
    if not any(each.suffix.startswith(PCI_PREFIX)
               for each in flavor.request_groups) or not snapshot.once(
                   OWNER_NOVA, lambda: all(
                       OWNER_NOVA in host.traits for host in snapshot.hosts)):
        return flavor
    return replace(flavor, request_groups=tuple(
        replace(each, required_traits=each.required_traits | {OWNER_NOVA})
        if each.suffix.startswith(PCI_PREFIX) else each
        for each in flavor.request_groups))
