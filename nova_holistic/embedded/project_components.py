# SPDX-License-Identifier: Apache-2.0
"""The components of this project, connected to the cloud as in a deployment.
"""

import functools

from oslo_utils import timeutils

from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.holds.client import HoldClient
from nova_holistic.inventory import load_inventory
from nova_holistic.reconcile.action_runner import ActionRunner
from nova_holistic.reconcile.components import ReconcileComponents
from nova_holistic.reconcile.instances import NovaInstances
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.reconcile.repairer import Repairer
from nova_holistic.reconcile.server_actions import ServerActions
from nova_holistic.reconcile.server_positions import ServerPositions
from nova_holistic.table.store import PlacementTable


class ProjectComponents:
    """The engine and the objects that it uses; a mixin of ``EmbeddedCloud``.

    Each component is created at its first use, from attributes of the cloud
    such as ``conf``, ``placement`` and ``compute``, and exists as long as the
    cloud.
    """

    clock = staticmethod(timeutils.utcnow)

    @functools.cached_property
    def table(self):
        table = PlacementTable.from_conf(self.conf, 'engine')
        self.addCleanup(table.database.engine.dispose)
        return table

    @functools.cached_property
    def holds(self):
        return HoldClient.from_conf(self.conf, self.placement)

    @functools.cached_property
    def inventory(self):
        return load_inventory(self.conf, placement=self.placement,
                              compute=self.compute, image=self.image)

    @functools.cached_property
    def instances(self):
        return NovaInstances(self.compute)

    @functools.cached_property
    def planner(self):
        planner = Planner(self.conf, self.inventory, self.table, self.holds,
                          self.clock)
        planner.connect(
            self.positions.refresh, self.instances.find,
            repairing=self.repairer.run, act=self.action_runner.run,
            check_status=self.action_runner.check_status)
        return planner

    @functools.cached_property
    def reconcile_components(self):
        return ReconcileComponents(
            self.conf, self.inventory, self.table, self.holds,
            self.instances, self.clock)

    @functools.cached_property
    def action_runner(self):
        return ActionRunner(
            self.reconcile_components, ServerActions(self.compute))

    @functools.cached_property
    def repairer(self):
        return Repairer(self.reconcile_components)

    @functools.cached_property
    def positions(self):
        return ServerPositions(self.inventory, self.table, self.instances,
                               self.clock)

    @functools.cached_property
    def lifecycle(self):
        return Lifecycle(self.conf, self.table, self.holds, self.clock)

    @functools.cached_property
    def reconciler(self):
        return Reconciler(self.reconcile_components)
