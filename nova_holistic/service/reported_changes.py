# SPDX-License-Identifier: Apache-2.0
"""Reconciles servers and hosts soon after a change of them was reported."""

from collections.abc import Callable, Collection
import heapq
import threading
import time

import futurist
import futurist.waiters
from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.reconcile.reconciler import Reconciler

LOG = logging.getLogger(__name__)

DELAYS = (0.2, 1.0, 5.0, 20.0)
"""Seconds before each read of a reported server. Nova sends some notifications
before its API shows the change. After the last read, the server is left to the
passes of the reconciler."""


class ReportedChanges:
    """One thread handles all reported changes, in batches."""

    def __init__(self, conf, reconciler: Reconciler,
                 inventory: CloudInventory,
                 timer: Callable[[], float] = time.monotonic):
        """:param timer: returns seconds, to measure durations"""
        self._conf = conf.nova_notifications
        self._reconciler = reconciler
        self._inventory = inventory
        self._timer = timer
        self._changed = threading.Condition()
        self._due: list[tuple[float, str, int]] = []
        self._checks: dict[str, int] = {}
        self._hosts_due: float | None = None
        self._hosts_checked: float | None = None
        self._stopping = False
        self._executor = futurist.ThreadPoolExecutor(max_workers=1)
        self._serving: futurist.Future | None = None

    def start(self) -> None:
        """Begin; returns immediately."""
        self._serving = self._executor.submit(self._serve)

    def stop(self) -> None:
        """Begin nothing new. The passes of the reconciler find the remaining
        changes."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._executor.shutdown(wait=False)

    def wait(self, deadline: float) -> bool:
        """Whether the current check has ended at the deadline, after ``stop``.

        :param deadline: by the clock of ``time.monotonic``
        """
        if self._serving is None:
            return True
        timeout = max(0.0, deadline - time.monotonic())
        return bool(futurist.waiters.wait_for_all(
            [self._serving], timeout).done)

    def server_changed(self, instance_uuid: str) -> None:
        """See ``notification_listener.ChangeReceiver``."""
        with self._changed:
            # A new report restarts the series of reads.
            self._schedule(instance_uuid, 0)
            self._changed.notify()

    def use_changed(self, hosts: Collection[str]) -> None:
        """See ``notification_listener.ChangeReceiver``."""
        self._inventory.mark_hosts(hosts)

    def hosts_changed(self) -> None:
        """See ``notification_listener.ChangeReceiver``."""
        self._inventory.mark_nova()
        with self._changed:
            if self._hosts_due is None:
                earliest = (self._hosts_checked + self._conf.host_interval
                            if self._hosts_checked is not None else 0.0)
                self._hosts_due = max(self._timer() + DELAYS[0], earliest)
                self._changed.notify()

    def _schedule(self, uuid: str, check: int) -> None:
        if check >= len(DELAYS):
            self._checks.pop(uuid, None)
        elif self._checks.get(uuid) != check:
            self._checks[uuid] = check
            heapq.heappush(
                self._due, (self._timer() + DELAYS[check], uuid, check))

    def _serve(self) -> None:
        while True:
            servers, hosts = self._next()
            if self._stopping:
                return
            try:
                if hosts:
                    self._reconciler.check_hosts()
                if servers:
                    self._check(servers)
            except exceptions.HolisticError as error:
                LOG.warning('Reported changes are left to the next pass of '
                            'the reconciler: %s', error)
            except Exception:
                LOG.exception('Reported changes are left to the next pass of '
                              'the reconciler')

    def _check(self, servers: dict[str, int]) -> None:
        unsettled = self._reconciler.check_servers(servers)
        with self._changed:
            for uuid in unsettled:
                # Unless it was reported again in the meantime.
                if uuid not in self._checks:
                    self._schedule(uuid, servers[uuid] + 1)

    def _next(self) -> tuple[dict[str, int], bool]:
        """Wait until a check is due. Returns the due servers, each with the
        number of its read, and whether the hosts are due."""
        with self._changed:
            while not self._stopping:
                now = self._timer()
                servers = self._due_servers(now)
                hosts = self._hosts_due is not None and self._hosts_due <= now
                if hosts:
                    self._hosts_due, self._hosts_checked = None, now
                if servers or hosts:
                    return servers, hosts
                moments = [at for at, _, _ in self._due[:1]]
                if self._hosts_due is not None:
                    moments.append(self._hosts_due)
                self._changed.wait(
                    max(0.0, min(moments) - now) if moments else None)
            return {}, False

    def _due_servers(self, now: float) -> dict[str, int]:
        servers: dict[str, int] = {}
        while self._due and self._due[0][0] <= now:
            _, uuid, check = heapq.heappop(self._due)
            if self._checks.get(uuid) == check:
                servers[uuid] = check
                del self._checks[uuid]
        return servers
