# SPDX-License-Identifier: Apache-2.0
"""One engine: a process that takes work from the table and does it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
import os
import socket
import threading
import time
import uuid

from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic import exceptions
from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.metrics import instruments
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.service.endpoint import Endpoint
from nova_holistic.service.notification_listener import (
    NotificationListener)
from nova_holistic.service.periodic_tasks import PeriodicTask, PeriodicTasks
from nova_holistic.service.reported_changes import ReportedChanges
from nova_holistic.service.rpc_server import RpcServer
from nova_holistic.service.statistics_writer import StatisticsWriter
from nova_holistic.service.work_queues import GroupQueue, PlanQueue
from nova_holistic.service.workers import Workers
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

LAST_WORDS = 5.0
"""Seconds in which a planner whose group was handed back drops what it has
just held."""

FORGET_INTERVAL = 300.0
"""Seconds between two looks for what need not be remembered any more."""


@dataclass(frozen=True, slots=True)
class EngineParts:
    """What an engine works with, all on one table and one cloud."""

    table: PlacementTable
    inventory: InventoryDriver
    planner: Planner
    lifecycle: Lifecycle
    reconciler: Reconciler


class EngineService:
    """Any number of them may share a table: what one has taken no other
    does, until it is silent for too long.

    :ivar engine: its id, of which there is no other
    :ivar notifications: NotificationListener; None if it does not listen
    """

    def __init__(self, conf, parts: EngineParts,
                 transport: messaging.Transport,
                 clock: Callable[[], datetime],
                 notifications: messaging.Transport | None = None):
        """
        :param clock: gives naive UTC
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
                        'plan': PlanQueue(*shared)}
        self._workers = Workers(self._queues, conf.engine.workers)
        self._periodic_tasks = PeriodicTasks(
            self._all_periodic_tasks(), parts.table.jobs, self.engine,
            conf.engine.stale_after, clock)
        self.listener = RpcServer(transport, self.engine, Endpoint(
            self._workers, parts.lifecycle,
            StatisticsWriter(parts.inventory, parts.table, clock)))
        self._changes = ReportedChanges(conf, parts.reconciler)
        self.notifications = notifications and NotificationListener(
            conf, notifications, self._changes)
        self._hurry = threading.Event()
        self._ended = threading.Event()
        self._beating = threading.Thread(
            target=self._beat, daemon=True, name='beat')

    def start(self) -> None:
        """Begin; returns at once."""
        LOG.info('Engine %s starts', self.engine)
        self._workers.start()
        self._periodic_tasks.start()
        self._beating.start()
        self.listener.start()
        if self.notifications:
            self._changes.start()
            self.notifications.start()

    def stop(self) -> bool:
        """Finish what is begun, or hand it back when the time is up.

        :returns: whether all was finished
        """
        LOG.info('Engine %s stops', self.engine)
        until = time.monotonic() + self._conf.engine.shutdown_timeout
        self._workers.stop()
        self._periodic_tasks.stop()
        self.listener.stop(LAST_WORDS)
        if self.notifications:
            self.notifications.stop(LAST_WORDS)
            self._changes.stop()
        finished = self._finish(until)
        if not finished:
            LOG.warning('Engine %s hands back what it has not finished',
                        self.engine)
        self._ended.set()
        self._beating.join(LAST_WORDS)
        self._hand_back()
        if not finished:
            # The worker loses its ownership and drops what it held.
            self._workers.wait(time.monotonic() + LAST_WORDS)
        LOG.info('Engine %s has stopped', self.engine)
        return finished

    def hurry(self) -> None:
        """Hand back at once, if it is stopping; for a signal handler."""
        self._hurry.set()

    def _finish(self, until: float) -> bool:
        """Whether all that was begun is finished by then."""
        while time.monotonic() < until and not self._hurry.is_set():
            soon = min(until, time.monotonic() + 0.2)
            if self._workers.wait(soon) and self._periodic_tasks.wait(soon):
                return True
        now = time.monotonic()
        return self._workers.wait(now) and self._periodic_tasks.wait(now)

    def _hand_back(self) -> None:
        try:
            for queues in self._queues.values():
                queues.hand_back()
            self._parts.table.jobs.hand_back(self.engine)
        except exceptions.HolisticError as error:
            LOG.warning('Others will take over what is left after %s s: %s',
                        self._conf.engine.stale_after, error)

    def _beat(self) -> None:
        """Signs of life, and looks for work that nobody has told of."""
        look_at = time.monotonic()
        while not self._ended.is_set():
            try:
                self._workers.beat()
                self._periodic_tasks.beat()
                if time.monotonic() >= look_at:
                    self._workers.pick_up()
                    look_at = (time.monotonic()
                               + self._conf.engine.pickup_interval)
            except exceptions.HolisticError as error:
                LOG.warning('No sign of life could be given: %s', error)
            except Exception:
                LOG.exception('No sign of life could be given')
            self._ended.wait(max(0.0, min(
                self._conf.engine.heartbeat, look_at - time.monotonic())))

    def _all_periodic_tasks(self) -> dict[str, PeriodicTask]:
        return {
            'leases': PeriodicTask(self._parts.lifecycle.expire,
                                   self._conf.engine.lease_interval),
            'reconcile': PeriodicTask(self._reconcile,
                                      self._conf.engine.reconcile_interval),
            'forget': PeriodicTask(self._forget, FORGET_INTERVAL),
        }

    def _reconcile(self) -> None:
        with instruments.RECONCILER_SECONDS.timed():
            mended = self._parts.reconciler.reconcile()
        for case, count in mended.items():
            instruments.RECONCILED.add(count, case=case)
            LOG.info('Reconciled: %s: %d', case, count)

    def _forget(self) -> None:
        now, conf = self._clock(), self._conf.engine
        self._parts.table.plans.forget(
            now - timedelta(seconds=conf.plan_retention))
        self._parts.table.statistics.forget(
            now - timedelta(seconds=conf.statistics_max_age))
        if conf.event_retention:
            self._parts.table.history.prune(
                now - timedelta(days=conf.event_retention))
