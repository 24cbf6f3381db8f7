# SPDX-License-Identifier: Apache-2.0
"""An engine in the process of its caller, without messages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
import os
from typing import Any
import uuid

from oslo_log import log as logging

from nova_holistic.engine.binding.binder import Binder
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.messaging.context import RequestContext
from nova_holistic.messaging import errors
from nova_holistic.messaging.results import Released, ShownBinding
from nova_holistic.reconcile.repairer import Repairer
from nova_holistic.service.statistics_writer import StatisticsWriter
from nova_holistic.service.work_queues import (
    AlternatesQueue, GroupQueue, PlanQueue, WorkQueue)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlanningParts:
    """The parts of an engine that plans groups in the process of its caller.

    :ivar repairer: None if the engine repairs no groups
    """

    table: PlacementTable
    inventory: CloudInventory
    planner: Planner
    lifecycle: Lifecycle
    repairer: Repairer | None = None


class DirectEngine:
    """An engine with the interface of an EngineClient. A call returns after
    the work is finished, which has the same steps as in an engine process.

    Threads may share an instance: no two threads do the same task.
    """

    def __init__(self, conf, clock: Callable[[], datetime],
                 parts: PlanningParts):
        """:param clock: returns naive UTC"""
        self._repairer = parts.repairer
        engine = f'direct:{os.getpid()}:{uuid.uuid4().hex[:8]}'
        shared = (conf, parts.table, parts.planner, engine, clock)
        self._groups = GroupQueue(*shared)
        self._plans = PlanQueue(*shared)
        self._alternates = AlternatesQueue(*shared)
        self._lifecycle = parts.lifecycle
        self._statistics = StatisticsWriter(parts.inventory, parts.table,
                                            clock)
        self._binder = Binder(parts.table, parts.inventory, clock)

    def plan_group(self, context: RequestContext, group_uuid: str) -> None:
        """Carry out the pending task of the group, if it has one. Then find
        the alternates of its members."""
        self._run(self._groups, context, group_uuid)
        try:
            self._run(self._alternates, context, group_uuid)
        except exceptions.HolisticError as error:
            LOG.warning('Members of group %s have no alternates yet: %s',
                        group_uuid, error)

    def plan(self, context: RequestContext, plan_uuid: str) -> None:
        """Make the plan, if no engine has made it."""
        self._run(self._plans, context, plan_uuid)

    def release(self, context: RequestContext, group_uuid: str,
                members: Collection[str] | None = None,
                revision: int | None = None) -> Released:
        """See ``Lifecycle.release``."""
        with context.logged():
            return self._lifecycle.release(group_uuid, members, revision)

    def extend(self, context: RequestContext, group_uuid: str,
               seconds: int, revision: int | None = None) -> None:
        """See ``Lifecycle.extend``; the table has the new end."""
        with context.logged():
            self._lifecycle.extend(group_uuid, seconds, revision)

    def delete(self, context: RequestContext, group_uuid: str,
               revision: int | None = None) -> None:
        """See ``Lifecycle.delete``."""
        with context.logged():
            self._lifecycle.delete(group_uuid, revision)

    def repair(self, context: RequestContext,
               group_uuid: str) -> Mapping[str, Any]:
        """See ``Repairer.propose``: the document of the proposal."""
        if self._repairer is None:
            raise errors.EngineFailed('this engine repairs no groups')
        with context.logged():
            return self._repairer.propose(group_uuid).to_document()

    def bind(self, context: RequestContext, group_uuid: str, path: str,
             server_group: str) -> ShownBinding:
        """See ``Binder.bind``."""
        with context.logged():
            return self._binder.bind(group_uuid, path, server_group)

    def bindings(self, context: RequestContext,
                 group_uuid: str) -> Sequence[ShownBinding]:
        """See ``Binder.bindings``."""
        with context.logged():
            return self._binder.bindings(group_uuid)

    def update_resource_stats(self, context: RequestContext, name: str,
                              stats: Mapping[str, float]) -> None:
        """Store statistics that were measured on a host.

        :raises HostUnknown: the inventory has no such host
        """
        with context.logged():
            self._statistics.put(name, stats)

    def _run(self, queues: WorkQueue, context: RequestContext,
             uuid: str) -> None:
        with context.logged():
            record = queues.take(uuid)
            if record is not None:
                queues.do(record)
