# SPDX-License-Identifier: Apache-2.0
"""Compute nodes and host aggregates, as Nova knows them."""

from collections import Counter
from dataclasses import dataclass

from oslo_log import log as logging

from nova_holistic.inventory.service import Service
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.base import Aggregate

LOG = logging.getLogger(__name__)

HYPERVISORS_VERSION = '2.53'
"""UUIDs as ids. From 2.88 on, Nova asks each compute for its uptime before
it answers: a call to every host for each snapshot, none of it of use here."""
AGGREGATES_VERSION = '2.41'
"""UUIDs of aggregates."""


@dataclass(frozen=True, slots=True)
class Compute:
    """A compute node.

    :ivar name: unique: the compute host; the node where the host has several
    :ivar host: of the nova-compute service; aggregates speak of it
    :ivar node: hypervisor host name
    :ivar uuid: also of the node's resource provider
    :ivar enabled: the service is up, not forced down, and not disabled, and
        has no other node: a server is sent to a service, which of the nodes
        takes it is not for a plan to say
    :ivar hypervisor: its type, and its version as Nova's number
    """

    name: str
    host: str
    node: str
    uuid: str
    enabled: bool
    hypervisor: tuple[str, int] = ('', 0)


def read_computes(nova: Service) -> tuple[Compute, ...]:
    """Every compute node that has a service, by name.

    :raises ServiceFailed: Nova does not answer, or answers nonsense
    """
    path = '/os-hypervisors/detail'
    with nova.reading(path):
        # By UUID, should a page repeat what came before.
        found = {item['id']: item for item in nova.pages(
            path, 'hypervisors', HYPERVISORS_VERSION)}
        nodes = Counter(item['service']['host'] for item in found.values())
        computes = [Compute(
            name=_name(item, nodes), host=item['service']['host'],
            node=item['hypervisor_hostname'], uuid=uuid,
            enabled=_enabled(item, nodes),
            hypervisor=_hypervisor(item))
            for uuid, item in found.items()]
    shared = sorted(host for host, number in nodes.items() if number > 1)
    if shared:
        LOG.info('%d compute services have several nodes each, of which none '
                 'is planned: %s', len(shared), ', '.join(shared[:10]))
    return tuple(sorted(computes, key=lambda compute: compute.name))


def _name(item, nodes: Counter) -> str:
    host = item['service']['host']
    return host if nodes[host] == 1 else item['hypervisor_hostname']


def _hypervisor(item) -> tuple[str, int]:
    return (item.get('hypervisor_type') or '',
            item.get('hypervisor_version') or 0)


def _enabled(item, nodes: Counter) -> bool:
    return (item['state'] == 'up' and item['status'] == 'enabled'
            and nodes[item['service']['host']] == 1)


def read_aggregates(nova: Service) -> tuple[Aggregate, ...]:
    """Every host aggregate.

    :raises ServiceFailed: Nova does not answer, or answers nonsense
    """
    path = '/os-aggregates'
    with nova.reading(path):
        return tuple(Aggregate(
            name=item['name'], uuid=item['uuid'],
            hosts=frozenset(item['hosts']),
            metadata=FrozenMapping(item['metadata']))
            for item in nova.get(path, AGGREGATES_VERSION)['aggregates'])
