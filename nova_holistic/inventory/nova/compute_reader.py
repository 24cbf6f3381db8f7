# SPDX-License-Identifier: Apache-2.0
"""Reads compute nodes, and reads again only those that may have changed."""

from collections.abc import Callable, Mapping
from functools import partial
import math
import threading
import time

from nova_holistic.inventory.nova.computes import combine, Compute
from nova_holistic.inventory.nova.hypervisors import (
    ComputeService, Hypervisor, read_hypervisor, read_hypervisors,
    read_services)
from nova_holistic.inventory.parallel_reads import read_each
from nova_holistic.inventory.resource_providers.provider_source import (
    Listing, names_of_roots)
from nova_holistic.inventory.service_client import ServiceClient

MAX_AGE = 3600.0
"""Seconds after which a hypervisor is read again. benchmarks/background.py
shows what this and MOST_VERIFIED cost."""
MOST_VERIFIED = 100
"""Maximum number of seemingly unchanged hypervisors that one call reads. It
limits how long a plan waits for them."""
MOVING = 'ironic'
"""Type of hypervisors that can move from one compute service to another
without a change in the lists of services and providers."""


class ComputeReader:
    """Caches the hypervisors. Several threads may use one reader.

    Each call reads all compute services in one request. A hypervisor is read
    again, in a separate request, if

    - its provider is new, has another name, or no longer exists,
    - its service no longer exists, or was deleted and created again,
    - it is of Ironic, whose nodes move between services, or
    - it was not read for ``max_age`` seconds, in pieces of up to
      ``MOST_VERIFIED``: its type or version may have changed.

    A provider that does not belong to a compute node is requested again if its
    name changes, and while a compute service without a node exists: Nova hides
    a node until ``nova-manage cell_v2 discover_hosts`` has mapped its host.

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
        # By UUID, in the order in which they were read.
        self._known: dict[str, Hypervisor] = {}
        # Names of providers when their hypervisors were read; None if there
        # was no provider.
        self._names: dict[str, str | None] = {}
        self._verified_at = 0.0

    def read(self, listing: Listing) -> tuple[Compute, ...]:
        """Every compute node that has a service, sorted by name.

        A compute node that has no provider yet may be missing.

        :param listing: all resource providers, read just before
        :raises ServiceFailed: Nova does not answer, or gives an invalid answer
        """
        names = names_of_roots(listing)
        with self._lock:
            services = read_services(self._nova)
            stale = self._stale(names, services)
            # A request for one hypervisor takes about twice the time that
            # the same hypervisor takes in the list.
            if len(stale) >= len(self._known):
                self._read_all(names)
            else:
                self._read_some([*stale, *self._due(stale)], names)
            return combine(self._known.values(), services)

    def _stale(self, names: Mapping[str, str],
               services: Mapping[str, ComputeService]) -> list[str]:
        """UUIDs of hypervisors that may have changed, and of providers that
        may be those of hypervisors."""
        vacant = services.keys() - {
            hypervisor.host for hypervisor in self._known.values()}
        return [uuid for uuid in {**self._known, **names}
                if self._names.get(uuid, '') != names.get(uuid)
                or (self._has_moved(self._known[uuid], services)
                    if uuid in self._known else vacant)]

    @staticmethod
    def _has_moved(known: Hypervisor,
                   services: Mapping[str, ComputeService]) -> bool:
        service = services.get(known.host)
        return (service is None or service.id != known.service.id
                or known.kind[0] == MOVING)

    def _due(self, stale: list[str]) -> list[str]:
        """UUIDs of the hypervisors whose last reading is the oldest. Within
        ``max_age``, these are all hypervisors."""
        elapsed = self._timer() - self._verified_at
        number = min(MOST_VERIFIED, math.floor(
            len(self._known) * elapsed / self._max_age))
        if number:
            self._verified_at = self._timer()
        return [uuid for uuid in list(self._known)[:number]
                if uuid not in set(stale)]

    def _read_all(self, names: Mapping[str, str]) -> None:
        self._verified_at = self._timer()
        self._known = dict(read_hypervisors(
            self._nova, tuple(names), self._threads))
        self._names = {uuid: names.get(uuid)
                       for uuid in {**self._known, **names}}

    def _read_some(self, uuids: list[str], names: Mapping[str, str]) -> None:
        found = read_each(
            uuids, partial(read_hypervisor, self._nova), self._threads)
        for uuid, hypervisor in found.items():
            self._known.pop(uuid, None)
            if hypervisor is not None:
                self._known[uuid] = hypervisor
            self._names[uuid] = names.get(uuid)
        for uuid in self._names.keys() - self._known.keys() - names.keys():
            del self._names[uuid]
