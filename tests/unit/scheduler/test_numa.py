# SPDX-License-Identifier: Apache-2.0
"""The NUMA topology is not read for a request that does not need it."""

from nova.objects.instance_numa import InstanceNUMATopology
from nova.objects.instance_pci_requests import (
    InstancePCIRequest, InstancePCIRequests)
from nova.objects.request_spec import RequestSpec
from nova.scheduler.filters import compute_filter
from nova.scheduler.filters import numa_topology_filter
import pytest

from nova_holistic.scheduler.hosts import numa

FILTERS = [compute_filter.ComputeFilter(),
           numa_topology_filter.NUMATopologyFilter()]
TOPOLOGY = InstanceNUMATopology(cells=[])
DEVICE = InstancePCIRequests(
    requests=[InstancePCIRequest(count=1)])
NO_DEVICE = InstancePCIRequests(requests=[])


class OwnFilter(numa_topology_filter.NUMATopologyFilter):
    """A filter of the operator."""


@pytest.mark.parametrize('asked', [
    {}, {'numa_topology': None, 'pci_requests': None},
    {'numa_topology': None, 'pci_requests': NO_DEVICE}])
def test_a_plain_request_needs_none(asked):
    assert not numa.is_needed(RequestSpec(**asked), FILTERS)


@pytest.mark.parametrize('asked', [
    {'numa_topology': TOPOLOGY, 'pci_requests': NO_DEVICE},
    {'numa_topology': None, 'pci_requests': DEVICE}])
def test_a_request_for_numa_nodes_or_devices_needs_it(asked):
    assert numa.is_needed(RequestSpec(**asked), FILTERS)


def test_a_filter_of_another_package_may_need_it():
    assert numa.is_needed(RequestSpec(), [*FILTERS, OwnFilter()])
