# SPDX-License-Identifier: Apache-2.0
"""A world with planner, lifecycle and reconciler in the test's process."""

import contextlib
import dataclasses
from datetime import datetime, timedelta

from oslo_config import cfg

from nova_holistic import conf as options
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.reconcile.action_runner import ActionRunner
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.reconcile.repairer import Repairer
from nova_holistic.reconcile.server_positions import ServerPositions
from tests.functional.placement_service import PlacementService
from tests.tables import new_table
from tests.world.base import BaseWorld, SMALL

RACKS = {'a1': 'a', 'a2': 'a', 'b1': 'b', 'b2': 'b'}
VCPUS = 2


def shop(nodes=2):
    """A web server and database nodes. No two nodes may be in one rack."""
    return {'group': {
        'name': 'shop',
        'members': [{'name': 'web', 'resources': SMALL}],
        'groups': [{
            'name': 'db',
            'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
            'members': [
                {'name': 'node', 'count': nodes, 'resources': SMALL}]}]}}


class World(BaseWorld):
    """A world that by default has two racks of two hosts, each with capacity
    for two small servers.

    Placement and the table exist inside the context manager.

    :ivar now: time of the clock of the scenario
    """

    def __init__(self, directory, racks=None, vcpus=VCPUS):
        """
        :param racks: rack of each host, by the host's name
        :param vcpus: number of VCPUs of each host
        """
        self._directory = directory
        self._racks = racks or RACKS
        self._vcpus = vcpus
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            placement = stack.enter_context(PlacementService())
            super().__init__(
                placement, new_table(self._directory), self._racks,
                self._vcpus)
            stack.callback(self.table.database.close)
            self._start_parts()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure):
        self._stack.close()

    def _start_parts(self):
        self.now = datetime(2030, 1, 1, 12)
        self.conf = cfg.ConfigOpts()
        options.register_opts(self.conf)
        self.conf([])
        self.positions = ServerPositions(
            self.inventory, self.table, self.instances, self.clock)
        self.repairer = Repairer(self.components())
        self.planner = self.planner_with(self.table, self.holds)
        self.lifecycle = self.lifecycle_with(self.table, self.holds)
        self.reconciler = Reconciler(self.components())

    def clock(self):
        return self.now

    def providers(self):
        return self.placement.providers()

    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)

    def wait_out_grace(self):
        self.wait(self.conf.reconciler.grace + 1)

    def wait_out_host_grace(self):
        """Let the reconciler see the unavailable hosts, and advance the clock
        by their grace period."""
        self.reconciler.reconcile()
        self.wait(self.conf.reconciler.host_grace)

    def reconcile_members(self):
        """Run passes of the reconciler until no member waits for a grace
        period."""
        self.reconciler.reconcile()
        self.wait_out_grace()
        self.reconciler.reconcile()
        self.wait_out_grace()
        self.reconciler.reconcile()

    def planner_with(self, table, holds):
        planner = Planner(
            self.conf, self.inventory, table, holds, self.clock)
        runner = ActionRunner(
            self.components(table=table, holds=holds), self.instances)
        planner.connect(
            self.positions.refresh, self.instances.find,
            repairing=self.repairer.run, act=runner.run,
            check_status=runner.check_status)
        return planner

    def components(self, **others):
        """The components of this world.

        :param others: components that replace those of this world
        """
        return dataclasses.replace(ReconcileComponents(
            self.conf, self.inventory, self.table, self.holds,
            self.instances, self.clock), **others)

    def lifecycle_with(self, table, holds):
        return Lifecycle(self.conf, table, holds, self.clock)

    def create(self, document=None, **arguments):
        return self.planner.create(
            document or shop(),
            **{'project_id': 'blue', 'user_id': 'ann', **arguments})
