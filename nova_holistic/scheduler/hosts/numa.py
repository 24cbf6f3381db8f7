# SPDX-License-Identifier: Apache-2.0
"""Whether the NUMA topology of a host is read for a request.

Nova parses it for each host, which takes longer than all other processing of
the host. Of Nova's filters, only the NUMA topology filter and the PCI
passthrough filter use it, and only for a request for NUMA nodes or for PCI
devices (nova.scheduler.filters, nova.scheduler.host_manager).
"""

from collections.abc import Iterable

from nova import objects

KNOWN = 'nova', 'nova_holistic'
"""Packages whose filters are known not to need it for other requests."""


def is_needed(spec: 'objects.RequestSpec', filters: Iterable[object]) -> bool:
    """Whether a filter may use the NUMA topology of a host.

    :param filters: all enabled filters
    """
    topology = spec.numa_topology if 'numa_topology' in spec else None
    devices = spec.pci_requests if 'pci_requests' in spec else None
    return bool(
        topology is not None or (devices and devices.requests)
        or any(type(each).__module__.partition('.')[0] not in KNOWN
               for each in filters))
