# SPDX-License-Identifier: Apache-2.0
"""Hypervisors and compute services, as Nova's API lists them.

Each entry of ``os-hypervisors``, with or without details and in any
microversion, costs Nova two SQL statements, one for the host mapping and one
for the service (nova.api.openstack.compute.hypervisors, nova.compute.api).
``os-services`` takes a fixed number of statements for each cell.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
import functools
import math
from typing import Any
from urllib.parse import urlencode

from oslo_log import log as logging

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.parallel_reads import read_each
from nova_holistic.inventory.service_client import PAGE, ServiceClient

LOG = logging.getLogger(__name__)

HYPERVISORS_VERSION = '2.53'
"""UUIDs as ids. From 2.88 on, Nova asks each compute for its uptime before
it answers. This takes a call to every host, and the result is not needed."""
SERVICES_VERSION = '2.69'
"""Services of a cell that does not answer are listed as UNKNOWN. In earlier
versions they are missing, as if they had been deleted."""
MOST_SECTIONS = 4
"""Maximum number of sections of the list that are read at the same time. If
nova-api has fewer processes, each request takes longer in proportion, and a
proxy gives up requests that take too long."""


@dataclass(frozen=True, slots=True)
class ComputeService:
    """A nova-compute.

    :ivar id: UUID; a service that is deleted and started again has a new one;
        None if the cell of the service does not answer
    :ivar enabled: it is up, not forced down, and not disabled
    """

    id: str | None
    enabled: bool


UNKNOWN = ComputeService(None, False)
"""A service in a cell that does not answer. Nova creates no servers there."""


@dataclass(frozen=True, slots=True)
class Hypervisor:
    """A compute node.

    :ivar uuid: UUID of the node, and of its resource provider
    :ivar node: hypervisor host name
    :ivar host: host of the nova-compute service
    :ivar service: state of the service when the hypervisor was read
    :ivar kind: its type, and its version as Nova's number
    """

    uuid: str
    node: str
    host: str
    service: ComputeService
    kind: tuple[str, int]


def read_services(nova: ServiceClient) -> Mapping[str, ComputeService]:
    """Every nova-compute by its host, in one request; UNKNOWN for those in
    cells that do not answer.

    :raises ServiceFailed: Nova does not answer, or gives an invalid answer
    """
    path = '/os-services?binary=nova-compute'
    with nova.reading(path):
        return {item['host']: ComputeService(item['id'], _enabled(item))
                if 'id' in item else UNKNOWN
                for item in nova.get(path, SERVICES_VERSION)['services']}


def read_hypervisors(nova: ServiceClient, uuids: Sequence[str] = (),
                     threads: int = 1) -> Mapping[str, Hypervisor]:
    """Every compute node that has a service, by UUID.

    Requests: one for each thousand. If the cloud has several thousand, threads
    read sections of the list at the same time. A section begins after any
    hypervisor, and ends where another section has begun. Each section except
    the first takes one more request, which checks that this hypervisor exists.

    :param uuids: UUIDs of most hypervisors, in any order
    :param threads: maximum number of sections
    :raises ServiceFailed: Nova does not answer, or gives an invalid answer
    """
    number = min(threads, MOST_SECTIONS, len(uuids) // PAGE)
    if number > 1:
        try:
            return _read_sections(nova, uuids, number)
        except ServiceFailed as error:
            # The hypervisor where a section begins may have been deleted.
            LOG.info('Hypervisors are read in one section: %s', error)
    return _read_section(nova, {'limit': str(PAGE)}, frozenset())


def _read_sections(nova: ServiceClient, uuids: Sequence[str], number: int,
                   ) -> Mapping[str, Hypervisor]:
    share = math.ceil(len(uuids) / number)
    limit = str(math.ceil(share / math.ceil(share / PAGE)))
    # A provider may not belong to a hypervisor.
    begins = [uuid for uuid, found in read_each(
        uuids[share - 1:-1:share], functools.partial(read_hypervisor, nova),
        number).items() if found is not None]
    queries = {'': {'limit': limit}} | {
        uuid: {'limit': limit, 'marker': uuid} for uuid in begins}
    sections = read_each(queries, lambda uuid: _read_section(
        nova, queries[uuid], frozenset(begins)), number)
    return {uuid: hypervisor for section in sections.values()
            for uuid, hypervisor in section.items()}


def _read_section(nova: ServiceClient, query: Mapping[str, str],
                  ends: Collection[str]) -> Mapping[str, Hypervisor]:
    """A part of the list, until one of the ends is read."""
    path = '/os-hypervisors/detail'
    found = {}
    with nova.reading(path):
        for item in nova.pages(
                path, 'hypervisors', HYPERVISORS_VERSION, **query):
            # By UUID, because a page may repeat items of an earlier one.
            found[item['id']] = _hypervisor(item)
            if item['id'] in ends:
                break
    return found


def read_page(nova: ServiceClient, limit: int,
              marker: str = '') -> Mapping[str, Hypervisor]:
    """A page of the list by UUID, in the order of the list; empty after its
    end.

    :param limit: maximum number of hypervisors
    :param marker: UUID of the hypervisor before the page; '' is the beginning
    :raises ServiceFailed: Nova does not answer, gives an invalid answer, or
        does not know the marker
    """
    query = {'limit': str(limit)} | ({'marker': marker} if marker else {})
    path = f'/os-hypervisors/detail?{urlencode(query)}'
    with nova.reading(path):
        return {item['id']: _hypervisor(item) for item in nova.get(
            path, HYPERVISORS_VERSION)['hypervisors']}


def read_hypervisor(nova: ServiceClient, uuid: str) -> Hypervisor | None:
    """One compute node; None if it does not exist, or has no service.

    :raises ServiceFailed: Nova does not answer, or gives an invalid answer
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
