# SPDX-License-Identifier: Apache-2.0
"""The engine of a process of this project, made from its configuration."""

from oslo_utils import timeutils

from nova_holistic.cli.connect import connect
from nova_holistic.engine.instances import NovaInstances
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.engine.reconciler import Reconciler
from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory import load_inventory
from nova_holistic.table.store import PlacementTable


def lifecycle(conf, table: PlacementTable) -> Lifecycle:
    """:raises NotConfigured: Placement's options will not do"""
    return Lifecycle(
        conf, table, HoldClient.from_conf(conf, connect(conf, 'placement')),
        timeutils.utcnow)


def planner(conf, table: PlacementTable) -> Planner:
    """:raises NotConfigured: Placement's or Nova's options will not do"""
    placement, nova = connect(conf, 'placement'), connect(conf, 'nova')
    return Planner(
        conf, load_inventory(conf, placement=placement, compute=nova), table,
        HoldClient.from_conf(conf, placement), timeutils.utcnow)


def reconciler(conf, table: PlacementTable) -> Reconciler:
    """:raises NotConfigured: Placement's or Nova's options will not do"""
    placement, nova = connect(conf, 'placement'), connect(conf, 'nova')
    return Reconciler(
        conf, load_inventory(conf, placement=placement, compute=nova), table,
        HoldClient.from_conf(conf, placement), NovaInstances(nova),
        timeutils.utcnow)
