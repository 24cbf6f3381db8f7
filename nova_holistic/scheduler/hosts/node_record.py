# SPDX-License-Identifier: Apache-2.0
"""A compute node for Nova's HostState, without Nova's object.

Nova's object converts and checks about thirty fields, which takes longer than
the statement that reads them.
"""

from collections.abc import Callable, Mapping
from datetime import timezone
import functools
from typing import Any

from nova import objects
from nova.objects import fields
from nova.objects import pci_device_pool
from oslo_serialization import jsonutils

_RATIOS = ('cpu_allocation_ratio', 'ram_allocation_ratio',
           'disk_allocation_ratio')
_ADDRESS = fields.IPAddressField(nullable=True)

Target = Callable[[], Any]
"""Returns a context of Nova that targets the cell of the node. Only Nova's
object needs it, because it writes to the database if it completes columns."""


class NodeRecord:
    """The attributes of ``nova.objects.ComputeNode`` that HostState reads. Any
    other attribute is read from Nova's object, which is created on demand."""

    def __init__(self, target: Target, values: Mapping[str, Any]):
        """:param values: columns of the compute node by their names"""
        self._target, self._values = target, values
        self.__dict__.update(values)
        if values['updated_at'] is not None:
            self.updated_at = values['updated_at'].replace(tzinfo=timezone.utc)
        self.host_ip = _ADDRESS.coerce(None, 'host_ip', values['host_ip'])
        if values['stats']:
            self.stats = jsonutils.loads(values['stats'])
        else:
            # The attribute is then read from Nova's object.
            del self.stats
        if values['supported_instances']:
            self.supported_hv_specs = _specs(values['supported_instances'])
        self.pci_device_pools = (
            None if values['pci_stats'] is None
            else pci_device_pool.from_pci_stats(values['pci_stats']))

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__ or name in self._object

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        return getattr(self._object, name)

    @functools.cached_property
    def _object(self) -> 'objects.ComputeNode':
        return from_row(self._target, self._values)


def node_of(target: Target, values: Mapping[str, Any]
            ) -> 'NodeRecord | objects.ComputeNode':
    """A compute node. It is Nova's own object if this object must complete the
    columns that an old nova-compute has written.

    :param values: columns of the compute node by their names
    """
    topology = values['numa_topology']
    if (any(not values[name] for name in _RATIOS)
            or topology and 'nova_object.name' not in topology):
        return from_row(target, values)
    return NodeRecord(target, values)


def from_row(target: Target, values: Mapping[str, Any]
             ) -> 'objects.ComputeNode':
    """Nova's own object, from the columns of a compute node."""
    return objects.ComputeNode._from_db_object(
        target(), objects.ComputeNode(), values)


@functools.lru_cache(maxsize=64)
def _specs(text: str) -> 'tuple[objects.HVSpec, ...]':
    """Specs in the column ``supported_instances``. They are cached, because
    hypervisors of one kind report the same text and no code changes the
    specs."""
    return tuple(map(objects.HVSpec.from_list, jsonutils.loads(text)))
