# SPDX-License-Identifier: Apache-2.0
"""Hypervisors and compute services, as Nova's API lists them.

Each entry of ``os-hypervisors``, with or without details and whatever the
microversion, costs Nova two SQL statements, one for the host mapping and one
for the service (nova.api.openstack.compute.hypervisors, nova.compute.api).
``os-services`` takes a fixed number of statements for each cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.service import Service

HYPERVISORS_VERSION = '2.53'
"""UUIDs as ids. From 2.88 on, Nova asks each compute for its uptime before
it answers. This takes a call to every host, and the result is not needed."""
SERVICES_VERSION = '2.69'
"""Services of a cell that does not answer are listed as UNKNOWN. Before, they
were left out, as if they had been deleted."""


@dataclass(frozen=True, slots=True)
class ComputeService:
    """A nova-compute.

    :ivar id: UUID; a service that is deleted and started again has a new one
    :ivar enabled: it is up, not forced down, and not disabled
    """

    id: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class Hypervisor:
    """A compute node.

    :ivar uuid: also of the node's resource provider
    :ivar node: hypervisor host name
    :ivar host: of the nova-compute service
    :ivar service: as it was when the hypervisor was read
    :ivar kind: its type, and its version as Nova's number
    """

    uuid: str
    node: str
    host: str
    service: ComputeService
    kind: tuple[str, int]


def read_services(nova: Service) -> Mapping[str, ComputeService]:
    """Every nova-compute by its host, in one request.

    :raises ServiceFailed: Nova does not answer, answers nonsense, or cannot
        reach the database of a cell
    """
    path = '/os-services?binary=nova-compute'
    with nova.reading(path):
        items = nova.get(path, SERVICES_VERSION)['services']
        unknown = [item['host'] for item in items if 'id' not in item]
        if unknown:
            raise ServiceFailed(
                nova.name, path, f'the state of {len(unknown)} services is '
                f'unknown, because a cell does not answer: '
                f'{", ".join(unknown[:10])}')
        return {item['host']: ComputeService(item['id'], _enabled(item))
                for item in items}


def read_hypervisors(nova: Service) -> Mapping[str, Hypervisor]:
    """Every compute node that has a service, by UUID.

    Requests: one for each thousand.

    :raises ServiceFailed: Nova does not answer, or answers nonsense
    """
    path = '/os-hypervisors/detail'
    with nova.reading(path):
        # By UUID, because a page may repeat items of an earlier one.
        return {item['id']: _hypervisor(item) for item in nova.pages(
            path, 'hypervisors', HYPERVISORS_VERSION)}


def read_hypervisor(nova: Service, uuid: str) -> Hypervisor | None:
    """One compute node; None if it does not exist, or has no service.

    :raises ServiceFailed: Nova does not answer, or answers nonsense
    """
    path = f'/os-hypervisors/{uuid}'
    with nova.reading(path):
        found = nova.get(path, HYPERVISORS_VERSION, missing_ok=True)
        return None if found is None else _hypervisor(found['hypervisor'])


def _hypervisor(item: Mapping[str, Any]) -> Hypervisor:
    return Hypervisor(
        uuid=item['id'], node=item['hypervisor_hostname'],
        host=item['service']['host'],
        service=ComputeService(item['service']['id'], _enabled(item)),
        kind=(item.get('hypervisor_type') or '',
              item.get('hypervisor_version') or 0))


def _enabled(item: Mapping[str, Any]) -> bool:
    return item['state'] == 'up' and item['status'] == 'enabled'
