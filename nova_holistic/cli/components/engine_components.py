# SPDX-License-Identifier: Apache-2.0
"""The engine of a process of this project, made from its configuration."""

import functools

from keystoneauth1.adapter import Adapter
import oslo_messaging as messaging

from nova_holistic.cli.components import boot_components
from nova_holistic.cli.components.connections import (
    connect, connect_if_configured)
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds.use_tracking_adapter import UseTrackingAdapter
from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.inventory.cached_inventory import with_cache
from nova_holistic.inventory.cinder.default_type import default_volume_type
from nova_holistic.inventory.cinder.pools import with_cinder_pools
from nova_holistic.inventory import load_inventory
from nova_holistic.metrics import exporter
from nova_holistic import objectives
from nova_holistic.observers import observe
from nova_holistic import plugins
from nova_holistic.reconcile.action_runner import ActionRunner
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.instances import NovaInstances
from nova_holistic.reconcile.orphan_holds import OrphanHolds
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.reconcile.repairer import Repairer
from nova_holistic.reconcile.server_actions import ServerActions
from nova_holistic.reconcile.server_positions import ServerPositions
from nova_holistic.service.service import EngineParts, EngineService
from nova_holistic.solver.milp import backend
from nova_holistic.table.clock import DatabaseClock
from nova_holistic.table.queries.totals import totals
from nova_holistic.table.store import PlacementTable
from nova_holistic.topology import load_topology


def planning_inventory(conf, placement: Adapter,
                       nova: Adapter) -> InventoryDriver:
    """The inventory with the images and the storage pools of the cloud, if
    Glance and Cinder are configured.

    :raises NotConfigured: the options of Glance or Cinder are invalid
    """
    inventory = load_inventory(
        conf, placement=placement, compute=nova,
        image=connect_if_configured(conf, 'glance'))
    cinder = connect_if_configured(conf, 'cinder')
    if cinder is not None:
        inventory.read_pools = functools.partial(
            with_cinder_pools, cinder=cinder, topology=load_topology(conf))
        inventory.read_default_volume_type = functools.partial(
            default_volume_type, cinder)
    return inventory


def planner(conf, table: PlacementTable) -> Planner:
    """:raises NotConfigured: the options of Placement or Nova are invalid"""
    placement, nova = connect(conf, 'placement'), connect(conf, 'nova')
    inventory = planning_inventory(conf, placement, nova)
    clock = DatabaseClock(table.database)
    planner = Planner(
        conf, inventory, table, HoldClient.from_conf(conf, placement), clock)
    instances = NovaInstances(nova)
    planner.connect(
        ServerPositions(inventory, table, instances, clock).refresh,
        instances.find)
    return planner


def reconciler(conf, table: PlacementTable) -> Reconciler:
    """:raises NotConfigured: the options of Placement or Nova are invalid"""
    placement, nova = connect(conf, 'placement'), connect(conf, 'nova')
    return Reconciler(ReconcileComponents(
        conf, load_inventory(conf, placement=placement, compute=nova), table,
        HoldClient.from_conf(conf, placement), NovaInstances(nova),
        DatabaseClock(table.database)))


def must_reach_placement(conf) -> None:
    """Ensure that Placement answers.

    :raises NotConfigured: the options of Placement are invalid
    :raises HoldsError: Placement does not answer, or refuses the request
    """
    HoldClient.from_conf(conf, connect(conf, 'placement')).providers()


def must_reach_nova(conf) -> None:
    """Ensure that Nova lists servers.

    :raises NotConfigured: the options of Nova are invalid
    :raises ServiceFailed: Nova does not answer, or refuses the request
    """
    NovaInstances(connect(conf, 'nova')).check_service()


def orphans(conf, table: PlacementTable) -> OrphanHolds:
    """:raises NotConfigured: the options of Placement are invalid"""
    return OrphanHolds(
        conf, table, HoldClient.from_conf(conf, connect(conf, 'placement')),
        DatabaseClock(table.database))


def engine(conf, transport: messaging.Transport,
           notifications: messaging.Transport | None = None) -> EngineService:
    """
    :param notifications: the transport of Nova's notifications; None if the
        engine does not listen to them
    :raises NotConfigured: the options of Placement or Nova are invalid
    :raises UnknownPlugin: the objective or the solver is not installed
    """
    objectives.load_objective(conf.planner.objective, '[planner] objective')
    plugins.load(backend.NAMESPACE, conf.planner.solver, '[planner] solver')
    placement, nova = connect(conf, 'placement'), connect(conf, 'nova')
    table = PlacementTable.from_conf(conf, 'engine')
    observe(conf, table.database, 'engine')
    exporter.start(conf, lambda: totals(table.database))
    # One object for all parts, since it remembers what it has read.
    inventory = with_cache(conf, planning_inventory(conf, placement, nova))
    holds = HoldClient.from_conf(
        conf, UseTrackingAdapter(placement, inventory))
    clock = DatabaseClock(table.database)
    instances = NovaInstances(nova)
    planner = Planner(conf, inventory, table, holds, clock)
    components = ReconcileComponents(
        conf, inventory, table, holds, instances, clock)
    repairer = Repairer(components)
    runner = ActionRunner(components, ServerActions(nova))
    planner.connect(
        ServerPositions(inventory, table, instances, clock).refresh,
        instances.find, repairing=repairer.run, act=runner.run,
        check_status=runner.check_status)
    return EngineService(conf, EngineParts(
        table, inventory, planner, Lifecycle(conf, table, holds, clock),
        Reconciler(components), repairer,
        boot_components.booter(conf, table, clock),
        boot_components.volume_creator(conf, table, clock),
    ), transport, clock, notifications)
