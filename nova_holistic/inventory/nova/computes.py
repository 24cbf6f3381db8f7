# SPDX-License-Identifier: Apache-2.0
"""Compute nodes and host aggregates, as Nova knows them."""

from collections.abc import Collection, Mapping
from collections import Counter
from dataclasses import dataclass

from oslo_log import log as logging

from nova_holistic.inventory.nova.hypervisors import ComputeService, Hypervisor
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.base import Aggregate

LOG = logging.getLogger(__name__)

AGGREGATES_VERSION = '2.41'
"""UUIDs of aggregates."""


@dataclass(frozen=True, slots=True)
class Compute:
    """A compute node.

    :ivar name: unique name: that of the compute host, or that of the node if
        the host has several nodes
    :ivar host: host of the nova-compute service, which aggregates name
    :ivar node: hypervisor host name
    :ivar uuid: UUID of the node, and of its resource provider
    :ivar enabled: the service is up, not forced down, and not disabled, and
        has no other node: a server is sent to a service, and a plan cannot
        choose between its nodes
    :ivar hypervisor: its type, and its version as Nova's number
    """

    name: str
    host: str
    node: str
    uuid: str
    enabled: bool
    hypervisor: tuple[str, int] = ('', 0)


def combine(hypervisors: Collection[Hypervisor],
            services: Mapping[str, ComputeService]) -> tuple[Compute, ...]:
    """Every compute node with the state of its service, sorted by name.

    :param services: services by host
    """
    nodes = Counter(hypervisor.host for hypervisor in hypervisors)
    shared = sorted(host for host, number in nodes.items() if number > 1)
    if shared:
        LOG.info('%d compute services have several nodes each, of which none '
                 'is planned: %s', len(shared), ', '.join(shared[:10]))
    computes = [Compute(
        name=node.host if nodes[node.host] == 1 else node.node,
        host=node.host, node=node.node, uuid=node.uuid,
        enabled=(nodes[node.host] == 1
                 and services.get(node.host, node.service).enabled),
        hypervisor=node.kind) for node in hypervisors]
    return tuple(sorted(computes, key=lambda compute: compute.name))


def read_aggregates(nova: ServiceClient) -> tuple[Aggregate, ...]:
    """Every host aggregate.

    :raises ServiceFailed: Nova does not answer, or gives an invalid answer
    """
    path = '/os-aggregates'
    with nova.reading(path):
        return tuple(Aggregate(
            name=item['name'], uuid=item['uuid'],
            hosts=frozenset(item['hosts']),
            metadata=FrozenMapping(item['metadata']))
            for item in nova.get(path, AGGREGATES_VERSION)['aggregates'])
