# SPDX-License-Identifier: Apache-2.0
"""One engine: a process that takes work from the table and does it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
import os
import socket
import threading
import time
import uuid

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic.boot.booter import Booter, Hooks
from nova_holistic.boot.volume_creator import VolumeCreator
from nova_holistic.engine.binding.binder import Binder
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.inventory import cached_inventory
from nova_holistic.inventory.cached_inventory import CachedInventory
from nova_holistic.metrics import instruments
from nova_holistic.reconcile.pace import Pace
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.reconcile.repairer import Repairer
from nova_holistic.service.boot_queue import BootQueue
from nova_holistic.service.notification_listener import (
    NotificationListener)
from nova_holistic.service.periodic_calls import PeriodicCall, PeriodicCalls
from nova_holistic.service.periodic_tasks import PeriodicTask, PeriodicTasks
from nova_holistic.service.record_expiry import RecordExpiry
from nova_holistic.service.reported_changes import ReportedChanges
from nova_holistic.service.rpc_endpoint import Endpoint
from nova_holistic.service.rpc_server import RpcServer
from nova_holistic.service.shared_changes import (
    ChangesEndpoint, fanout, SharedChanges, SPACING)
from nova_holistic.service.statistics_writer import StatisticsWriter
from nova_holistic.service.work_queues import (
    AlternatesQueue, GroupQueue, PlanQueue)
from nova_holistic.service.volume_queue import VolumeQueue
from nova_holistic.service.workers import Workers
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

CLEANUP_TIMEOUT = 5.0
"""Seconds for each step of a stop that follows the shutdown timeout. In this
time, a planner whose group was returned to the table drops its new holds."""

BOOT_PICKUP_INTERVAL = 1.0
"""Maximum interval in seconds at which an engine polls the table for planned
groups whose servers it creates: no message reports them."""

FORGET_INTERVAL = 300.0
"""Interval in seconds between two deletions of outdated records."""


@dataclass(frozen=True, slots=True)
class EngineParts:
    """The parts of an engine, for one table and one cloud."""

    table: PlacementTable
    inventory: CloudInventory
    planner: Planner
    lifecycle: Lifecycle
    reconciler: Reconciler
    repairer: Repairer | None = None
    booter: Booter | None = None
    volume_creator: VolumeCreator | None = None


class EngineService:
    """Any number of engines may share a table.

    A task belongs to the engine that has taken it. If that engine writes no
    heartbeat for too long, another engine takes the task.

    :ivar engine: the unique id of this engine
    :ivar notifications: NotificationListener; None if it does not listen
    """

    def __init__(self, conf, parts: EngineParts,
                 transport: messaging.Transport,
                 clock: Callable[[], datetime],
                 notifications: messaging.Transport | None = None):
        """
        :param clock: returns naive UTC
        :param notifications: the transport of Nova's notifications; None if
            the engine does not listen to them
        """
        self._conf = conf
        self._parts = parts
        self._clock = clock
        host = conf.engine.host or socket.gethostname()
        self.engine = f'{host[:200]}:{os.getpid()}:{uuid.uuid4().hex[:8]}'
        shared = (conf, parts.table, parts.planner, self.engine, clock)
        self._queues = {'group': GroupQueue(*shared),
                        'plan': PlanQueue(*shared),
                        'alternates': AlternatesQueue(*shared)}
        self._workers = Workers(self._queues, conf.engine.workers)
        self._changes = ReportedChanges(
            conf, parts.reconciler, parts.inventory)
        self._boots = parts.booter and BootQueue(
            conf, parts.table.boots, parts.booter, Hooks(
                parts.lifecycle.release, self._changes.server_changed),
            (self.engine, clock))
        self._boot_workers = Workers(
            {'boot': self._boots} if self._boots else {}, conf.boot.groups)
        creator = parts.volume_creator
        self._volume_workers = Workers({'volumes': VolumeQueue(
            conf, parts.table.volumes.creations, creator,
            parts.planner.replan, (self.engine, clock))} if creator else {},
            conf.boot.groups)
        self._periodic_tasks = PeriodicTasks(
            self._all_periodic_tasks(), parts.table.jobs, self.engine,
            conf.engine.stale_after, clock)
        self.listener = RpcServer(transport, self.engine, Endpoint(
            self._workers, parts.lifecycle,
            StatisticsWriter(parts.inventory, parts.table, clock),
            parts.repairer, Binder(parts.table, parts.inventory, clock)),
            ChangesEndpoint(self.engine, parts.inventory))
        shared_changes = SharedChanges(
            self._changes, self.engine, fanout(transport))
        self.notifications = notifications and NotificationListener(
            conf, notifications, shared_changes)
        self._stopping = threading.Event()
        # A signal handler sets it, and must not wait for a lock.
        self._stops_immediately = False
        self._own_calls = PeriodicCalls(self._periodic_calls(shared_changes))

    def _periodic_calls(self, shared_changes: SharedChanges
                        ) -> dict[str, PeriodicCall]:
        options = self._conf.engine
        return {
            'heartbeat': PeriodicCall(self._send_heartbeats,
                                      options.heartbeat),
            'poll for tasks': PeriodicCall(
                self._workers.pick_up, options.pickup_interval),
            'poll for servers to create': PeriodicCall(
                self._boot_workers.pick_up,
                min(options.pickup_interval, BOOT_PICKUP_INTERVAL)
                if self._boots else 0.0),
            'poll for volumes to create': PeriodicCall(
                self._volume_workers.pick_up,
                min(options.pickup_interval, BOOT_PICKUP_INTERVAL)
                if self._parts.volume_creator else 0.0),
            'send changes to other engines': PeriodicCall(
                shared_changes.send, SPACING if self.notifications else 0.0),
            **_snapshot_calls(self._conf, self._parts.inventory)}

    def start(self) -> None:
        """Start all threads, and return immediately."""
        LOG.info('Engine %s starts', self.engine)
        self._periodic_tasks.start()
        self._own_calls.start()
        self.listener.start()
        if self.notifications or self._boots:
            self._changes.start()
        if self.notifications:
            self.notifications.start()

    def stop(self) -> bool:
        """Finish the tasks in progress, or return them to the table after the
        shutdown timeout.

        :returns: whether all were finished, and all periodic calls have
            ended; otherwise an exit of the process would wait for them
        """
        LOG.info('Engine %s stops', self.engine)
        until = time.monotonic() + self._conf.engine.shutdown_timeout
        self._stopping.set()
        self._workers.stop()
        self._boot_workers.stop()
        self._volume_workers.stop()
        if self._boots:
            self._boots.stopping.set()
        self._periodic_tasks.stop()
        self.listener.stop(CLEANUP_TIMEOUT)
        if self.notifications:
            self.notifications.stop(CLEANUP_TIMEOUT)
        self._changes.stop()
        finished = self._finish(until)
        if not finished:
            LOG.warning('Engine %s returns unfinished tasks to the table',
                        self.engine)
        self._own_calls.stop()
        end = time.monotonic() + CLEANUP_TIMEOUT
        ended = self._own_calls.wait(end) and self._changes.wait(end)
        self._return_work()
        if not finished:
            # The worker loses its ownership and drops its new holds.
            self._wait(time.monotonic() + CLEANUP_TIMEOUT)
        LOG.info('Engine %s has stopped', self.engine)
        return finished and ended

    def stop_immediately(self) -> None:
        """While the engine is stopping, end the shutdown timeout immediately.

        A signal handler may call this.
        """
        self._stops_immediately = True

    def _finish(self, until: float) -> bool:
        """Whether all work in progress is finished at that time."""
        while time.monotonic() < until and not self._stops_immediately:
            soon = min(until, time.monotonic() + 0.2)
            if self._wait(soon) and self._periodic_tasks.wait(soon):
                return True
        now = time.monotonic()
        return self._wait(now) and self._periodic_tasks.wait(now)

    def _wait(self, deadline: float) -> bool:
        """Whether all workers have ended at that time."""
        return all(workers.wait(deadline) for workers in (
            self._workers, self._boot_workers, self._volume_workers))

    def _return_work(self) -> None:
        try:
            self._workers.return_work()
            self._boot_workers.return_work()
            self._volume_workers.return_work()
            self._parts.table.jobs.return_work(self.engine)
        except exceptions.HolisticError as error:
            LOG.warning('Other engines take over the remaining work after '
                        '%s s: %s', self._conf.engine.stale_after, error)

    def _send_heartbeats(self) -> None:
        """Write a heartbeat for all tasks of this engine."""
        self._workers.send_heartbeats()
        self._boot_workers.send_heartbeats()
        self._volume_workers.send_heartbeats()
        self._periodic_tasks.send_heartbeats()

    def _all_periodic_tasks(self) -> dict[str, PeriodicTask]:
        return {
            'leases': PeriodicTask(self._parts.lifecycle.expire,
                                   self._conf.engine.lease_interval),
            'reconcile': PeriodicTask(self._reconcile,
                                      self._conf.engine.reconcile_interval),
            'forget': PeriodicTask(
                RecordExpiry(self._conf, self._parts.table,
                             self._clock).delete,
                FORGET_INTERVAL),
        }

    def _reconcile(self) -> None:
        with instruments.RECONCILER_SECONDS.timed():
            repaired = self._parts.reconciler.reconcile(
                Pace(self._stopping.wait))
        for case, count in repaired.items():
            instruments.RECONCILED.add(count, case=case)
            LOG.info('Reconciled: %s: %d', case, count)


def _snapshot_calls(conf, inventory: CloudInventory
                    ) -> Mapping[str, PeriodicCall]:
    """The periodic calls that update the cached snapshot."""
    if not isinstance(inventory, CachedInventory):
        return {}
    return {
        'compare the snapshot': PeriodicCall(
            inventory.compare, cached_inventory.PIECE_SPACING),
        'read changed hosts': PeriodicCall(
            inventory.follow, cached_inventory.FOLLOW_SPACING),
        'read services': PeriodicCall(
            inventory.read_nova, conf.inventory.nova_interval)}
