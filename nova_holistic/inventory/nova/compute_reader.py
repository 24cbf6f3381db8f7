# SPDX-License-Identifier: Apache-2.0
"""Reads compute nodes, and reads again only those that may have changed."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
import math
import threading
import time

from oslo_log import log as logging

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.nova.computes import combine, Compute
from nova_holistic.inventory.nova.hypervisors import (
    ComputeService, Hypervisor, read_hypervisor, read_hypervisors, read_page,
    read_services, UNKNOWN)
from nova_holistic.inventory.parallel_reads import read_each
from nova_holistic.inventory.resource_providers.provider_source import (
    Listing, names_of_roots)
from nova_holistic.inventory.service_client import ServiceClient

LOG = logging.getLogger(__name__)

MAX_AGE = 3600.0
"""Seconds after which a hypervisor is read again. benchmarks/background.py
shows what this and MOST_VERIFIED cost."""
MOST_VERIFIED = 100
"""Maximum number of seemingly unchanged hypervisors that one call reads. It
limits how long a plan waits for them, and how long nova-api is busy."""
MOVING = 'ironic'
"""Type of hypervisors that can move from one compute service to another
without a change in the lists of services and providers."""


class ComputeReader:
    """Caches the hypervisors. Several threads may use one reader.

    Each call reads all compute services in one request. A hypervisor is read
    again if

    - its provider is new, has another name, or no longer exists,
    - its service no longer exists, or was deleted and created again,
    - it is of Ironic, whose nodes move between services, or
    - its type or version may have changed: each of them is read again within
      ``max_age`` seconds, or later if the limit ``MOST_VERIFIED`` applies.

    The last of these readings takes one request, for a page of the list. Nova
    reads a hypervisor in a page four times as fast as in its own request.
    Hypervisors that are missing from the list are then read one by one.

    A provider that does not belong to a compute node is requested again if its
    name changes, and while a compute service without a node exists: Nova hides
    a node until ``nova-manage cell_v2 discover_hosts`` has mapped its host.

    While a cell does not answer, its compute nodes count as disabled. Nova
    then lists no hypervisors at all, so those that are known are used, and a
    reader that knows none cannot begin.

    Nova's SQL statements: a fixed number for each cell, and a few for each
    hypervisor that is read. The first call reads the list of all
    hypervisors, and so does a call after which most of them may have changed.
    For this list, Nova takes two statements for each hypervisor.
    """

    def __init__(self, nova: ServiceClient, threads: int = 1,
                 max_age: float = MAX_AGE,
                 timer: Callable[[], float] = time.monotonic):
        """
        :param threads: number of hypervisors that are read in parallel
        :param max_age: seconds after which a hypervisor is read again
        :param timer: returns seconds, to measure durations
        """
        self._nova = nova
        self._threads = threads
        self._max_age = max_age
        self._timer = timer
        self._lock = threading.Lock()
        self._known: dict[str, Hypervisor] = {}
        # Names of providers when their hypervisors were read; None if there
        # was no provider.
        self._names: dict[str, str | None] = {}
        self._verified_at = 0.0
        # UUIDs that the current verification has not read yet.
        self._unverified: dict[str, None] = {}
        # The item of the list after which it continues; '' is the beginning,
        # and None means that the list has ended.
        self._marker: str | None = ''
        # Hosts in cells that did not answer.
        self._unknown: frozenset[str] = frozenset()

    def read(self, listing: Listing) -> tuple[Compute, ...]:
        """Every compute node that has a service, sorted by name.

        A compute node that has no provider yet may be missing.

        :param listing: all resource providers, read just before
        :raises ServiceFailed: Nova does not answer, or gives an invalid
            answer; or a cell does not answer, and no hypervisor is known
        """
        names = names_of_roots(listing)
        with self._lock:
            services = read_services(self._nova)
            self._log_unknown(frozenset(
                host for host, service in services.items()
                if service is UNKNOWN))
            stale = self._stale(names, services)
            if self._unknown and self._known:
                self._read_beside_unknown(stale, names)
            # A request for one hypervisor takes about twice the time that
            # the same hypervisor takes in the list.
            elif len(stale) >= len(self._known):
                self._read_all(names)
            else:
                self._put(read_each(
                    stale, partial(read_hypervisor, self._nova),
                    self._threads), names)
                self._verify(names)
            return combine(self._known.values(), services)

    def _stale(self, names: Mapping[str, str],
               services: Mapping[str, ComputeService]) -> list[str]:
        """UUIDs of hypervisors that may have changed, and of providers that
        may be those of hypervisors."""
        vacant = services.keys() - self._unknown - {
            hypervisor.host for hypervisor in self._known.values()}
        return [uuid for uuid in {**self._known, **names}
                if self._names.get(uuid, '') != names.get(uuid)
                or (self._has_moved(self._known[uuid], services)
                    if uuid in self._known else vacant)]

    @staticmethod
    def _has_moved(known: Hypervisor,
                   services: Mapping[str, ComputeService]) -> bool:
        service = services.get(known.host)
        return service is not UNKNOWN and (
            service is None or service.id != known.service.id
            or known.kind[0] == MOVING)

    def _log_unknown(self, hosts: frozenset[str]) -> None:
        """Log the hosts in cells that do not answer when they change."""
        if not hosts and self._unknown:
            LOG.info('All cells answer again.')
        elif hosts != self._unknown:
            LOG.warning('%d compute services are in cells that do not answer, '
                        'and count as disabled: %s', len(hosts),
                        ', '.join(sorted(hosts)[:10]))
        self._unknown = hosts

    def _read_beside_unknown(self, stale: Iterable[str],
                             names: Mapping[str, str]) -> None:
        """Read hypervisors while a cell does not answer. Nova searches all
        cells for each of them, so it may not find some of them until the cell
        answers."""
        for uuid in stale:
            try:
                self._put({uuid: read_hypervisor(self._nova, uuid)}, names)
            except ServiceFailed as error:
                LOG.info('Hypervisors are read when all cells answer: %s',
                         error)
                return

    def _verify(self, names: Mapping[str, str]) -> None:
        """Read the next hypervisors of the verification."""
        elapsed = self._timer() - self._verified_at
        number = min(MOST_VERIFIED, math.floor(
            len(self._known) * elapsed / self._max_age))
        if not number:
            return
        self._verified_at = self._timer()
        if not self._unverified:
            self._unverified = dict.fromkeys(self._known)
            self._marker = ''
        if self._marker is None:
            self._put(read_each(
                list(self._unverified)[:number],
                partial(read_hypervisor, self._nova), self._threads), names)
        else:
            self._put(self._page(number), names)

    def _page(self, number: int) -> Mapping[str, Hypervisor]:
        """The next page of the list."""
        try:
            found = read_page(self._nova, number, self._marker or '')
        except ServiceFailed as error:
            if not self._marker:
                raise
            # The hypervisor at the end of the latest page may have been
            # deleted.
            LOG.info('The list of hypervisors is read from its beginning: %s',
                     error)
            found = read_page(self._nova, number)
        self._marker = next(reversed(found), None)
        return found

    def _read_all(self, names: Mapping[str, str]) -> None:
        self._verified_at = self._timer()
        self._unverified = {}
        self._known = dict(read_hypervisors(
            self._nova, tuple(names), self._threads))
        self._names = {uuid: names.get(uuid)
                       for uuid in {**self._known, **names}}

    def _put(self, found: Mapping[str, Hypervisor | None],
             names: Mapping[str, str]) -> None:
        """:param found: hypervisors that were read; None: it does not exist
        """
        for uuid, hypervisor in found.items():
            self._unverified.pop(uuid, None)
            if hypervisor is None:
                self._known.pop(uuid, None)
            else:
                self._known[uuid] = hypervisor
            self._names[uuid] = names.get(uuid)
        for uuid in self._names.keys() - self._known.keys() - names.keys():
            del self._names[uuid]
