# SPDX-License-Identifier: Apache-2.0
"""Runs the demo, and checks every statement that it prints."""

from pathlib import Path
import shutil
import time

from rich.console import Console

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.embedded.demo.demo_cloud import DemoCloud
from nova_holistic.embedded.demo.expectations import Expectations
from nova_holistic.embedded.demo.joint_planning import JointPlanning
from nova_holistic.embedded.demo.outcome import Attempt
from nova_holistic.embedded.demo import scenario, tables
from nova_holistic.embedded.demo.stock_nova import one_by_one
from nova_holistic.embedded.demo.tiers import (
    with_nova_policies, largest_first, Tier, tiers)
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.check import check

LOG = 'nova-holistic-demo.log'


def run_demo(console: Console, folder: Path) -> bool:
    """Run the demo, and return whether all its statements were true.

    :param folder: folder for the map of the plan, and for the log of the
        services if a statement is false or the demo fails
    """
    started = time.monotonic()
    console.print('A complete Nova and Placement start in this process.')
    with (console.status('Nova is running'), EmbeddedCloud(
            [host for host, _ in scenario.hosts()], scheduler='stock',
            options=scenario.OPTIONS) as cloud):
        all_true = False
        try:
            all_true = DemoRun(cloud, console, folder).run()
        finally:
            if not all_true:
                shutil.copy(cloud.log_path, folder / LOG)
                console.print(f'The log of the services is in {folder / LOG}',
                              markup=False)
    console.print(f'The demo took {time.monotonic() - started:.0f} seconds.')
    return all_true


class DemoRun:
    """One run of the demo on one cloud."""

    def __init__(self, cloud, console: Console, folder: Path):
        self.console = console
        self.folder = folder
        self.expectations = Expectations(console)
        self.demo_cloud = DemoCloud(cloud)
        self.group = parse_group(scenario.document(), load_policy_types())
        self.tiers = tiers(self.group)
        self.attempts: list[Attempt] = []

    def run(self) -> bool:
        """Run all steps, and return whether all statements were true."""
        self._cloud()
        self._requested_group()
        self._stock('stock, as listed', self.tiers,
                    'in the order of the document',
                    'The web servers went to the emptiest hosts, which are '
                    'the best hosts for each of them alone, and used the '
                    'capacity that databases and caches need.')
        memory = {flavor.name: flavor.resources['MEMORY_MB']
                  for flavor in scenario.FLAVORS}
        self._stock('stock, largest first', largest_first(self.tiers, memory),
                    'the largest servers first, as a careful operator would',
                    'The first cache went to the host with the most free '
                    'capacity overall, which does not have enough memory for '
                    'the second cache.')
        self._joint()
        self._summary()
        return self.expectations.all_true

    def _cloud(self) -> None:
        self.console.rule('A nearly full cloud')
        self.demo_cloud.put_load()
        self.snapshot = self.demo_cloud.cloud.inventory.snapshot()
        self.console.print(tables.cloud(self.snapshot))
        memory = [h.inventories['MEMORY_MB'] for h in self.snapshot.hosts]
        share = sum(m.used for m in memory) / sum(m.capacity for m in memory)
        self.console.print(
            f'A real nova-api, conductor, scheduler and Placement, and '
            f'{len(memory)} nova-computes with fake hypervisors. A server on '
            f'each host takes {share:.0%} of all memory.')

    def _requested_group(self) -> None:
        self.console.rule('The requested group')
        flavors = {flavor.name: flavor for flavor in scenario.FLAVORS}
        self.console.print(tables.group(self.tiers, flavors))
        self.console.print(
            'Nova has no equivalent of [cyan]anti-affinity rack[/]: only the '
            'joint plan has to satisfy it, which makes its task more '
            'difficult.')

    def _stock(self, name: str, order: tuple[Tier, ...], words: str,
               why: str) -> None:
        self.console.rule(f'Stock Nova, {words}')
        tried = self._checked(one_by_one(self.demo_cloud, name, order))
        self.demo_cloud.delete(tried.outcomes)
        self.attempts.append(tried)
        self.console.print(tables.attempt(tried, order))
        for fault in dict.fromkeys(o.fault for o in tried.failed):
            self.console.print(f'Nova says: {fault}', markup=False)
        if tried.failed:
            self.console.print(why)
        self.expectations.expect(
            'Nova, one server at a time, cannot create all servers',
            [] if tried.failed else ['all servers are ACTIVE'])
        self.expectations.expect(
            'the servers are deleted; Placement contains only the load',
            self.demo_cloud.discrepancies(self.demo_cloud.load_servers()))

    def _joint(self) -> None:
        self.console.rule('The same group, jointly')
        joint = JointPlanning(self.demo_cloud, self.console, self.expectations)
        joint.plan(self.group, self.snapshot, self.folder)
        self.attempts.append(self._checked(joint.create()))
        joint.release()
        joint.delete()

    def _checked(self, tried: Attempt) -> Attempt:
        """The attempt with the result of the independent check of its ACTIVE
        servers, against the policies that apply to all attempts."""
        hosts = tried.hosts()
        reasons = check(with_nova_policies(self.group, frozenset(hosts)),
                        self.snapshot, hosts)
        return tried.with_violations(
            f'{reason.at}: {reason.message}' for reason in reasons)

    def _summary(self) -> None:
        self.console.rule('Summary')
        members = len(self.group.all_members())
        self.console.print(tables.summary(members, self.attempts))
        last = self.attempts[-1]
        self.expectations.expect('no policy is violated', last.violations)
