# SPDX-License-Identifier: Apache-2.0
"""The cost of a plan on the cached snapshot depends on the changes since the
last plan, and that of a comparison on its piece, not on the number of hosts.
"""

from collections import Counter
import inspect
import sys

import numpy as np
from oslo_config import cfg

from nova_holistic import conf as options
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.engine.decision.planning_request import PlanningRequest
from nova_holistic.engine.decision.snapshot_planner import SnapshotPlanner
from nova_holistic.engine.member_rows import host_of
from nova_holistic.inventory.cached_inventory import CachedInventory
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.policies import load_policy_types
from nova_holistic.table.records import MemberRecord, MemberState, Place
from tests.unit.inventory.clouds import Cloud, MemoryInventory

CONF = cfg.ConfigOpts()
options.register_opts(CONF)
CONF([], project='nova-holistic')
TYPES = load_policy_types()
GROUP = parse_group({
    'name': 'shop', 'policies': [
        {'type': 'anti-affinity'}],
    'members': [{'name': 'web', 'resources': {'VCPU': 1}, 'count': 10}]},
    TYPES)
PACKAGES = tuple(f'nova_holistic.{name}' for name in (
    'constraints', 'engine', 'inventory', 'model.binding',
    'model.cloud.snapshot', 'solver.diagnosis.contradiction',
    'solver.milp.dominated_hosts'))
FEW, MANY = 1200, 2400
"""Numbers of hosts on the same side of the limit of small groups."""


class WarmEngine:
    """An engine that has planned before, so that its caches are filled."""

    def __init__(self, hosts, table):
        names = [f'h{number}' for number in range(hosts)]
        inventory = MemoryInventory(Cloud(
            dict.fromkeys(names, 0),
            racks={name: f'r{number % 20}'
                   for number, name in enumerate(names)}))
        # Each piece of a comparison has four hosts.
        self.kept = CachedInventory(inventory, inventory.reader, hosts / 4)
        self._planner = SnapshotPlanner(
            CONF, self.kept, table, TYPES, lambda: 0.0)
        for _ in range(3):
            self.plan()

    def plan(self):
        since = self.kept.moment()
        plan = self._planner.decide(PlanningRequest(GROUP, 'spread')).plan
        self.kept.change_use(since, {
            name: UseChange(number, FrozenMapping({'VCPU': number}))
            for name, number in Counter(plan.hosts().values()).items()})

    def alternates(self):
        """Search for alternates of a group that was just planned."""
        plan = self._planner.decide(PlanningRequest(GROUP, 'spread')).plan
        members = {each.path: each for each in GROUP.all_members()}
        held = [MemberRecord(
            0, 'shop', members[path], Place(name, name, name), path, True,
            MemberState.PLANNED) for path, name in plan.hosts().items()]
        return self._planner.alternates(PlanningRequest(
            GROUP, 'spread', vacated=held,
            remembered=[host_of(each.place) for each in held]),
            plan.hosts(), {})

    def lines(self, work):
        """Count how often a function executes each line of these packages."""
        found = Counter()

        def note(frame, event, _argument):
            if event == 'line':
                found[frame.f_code.co_filename, frame.f_lineno] += 1
            return note

        def enter(frame, _event, _argument):
            module = frame.f_globals.get('__name__', '')
            return note if module.startswith(PACKAGES) else None

        sys.settrace(enter)
        try:
            work()
        finally:
            sys.settrace(None)
        return found


def test_a_plan_looks_at_each_host_only_in_arrays(table):
    few, many = (engine.lines(engine.plan) for engine in (
        WarmEngine(number, table) for number in (FEW, MANY)))
    assert len(few) > 100
    assert many == few


def test_alternates_look_at_each_host_only_in_arrays(table):
    engines = [WarmEngine(number, table) for number in (FEW, MANY)]
    for engine in engines:
        assert all(engine.alternates().values())
    few, many = (engine.lines(engine.alternates) for engine in engines)
    assert len(few) > 100
    assert many == few


def test_a_plan_does_not_sort_the_domains_of_all_hosts(table):
    engine, sorted_sizes = WarmEngine(FEW, table), []
    unique = inspect.unwrap(np.unique).__code__

    def note(frame, event, _argument):
        if event == 'call' and frame.f_code is unique:
            sorted_sizes.append(np.size(frame.f_locals['ar']))

    sys.setprofile(note)
    try:
        np.unique(np.arange(3))
        engine.plan()
    finally:
        sys.setprofile(None)
    # The first call shows that calls are noted.
    assert sorted_sizes[0] == 3
    assert max(sorted_sizes) < FEW


def test_a_piece_of_a_comparison_looks_at_its_hosts_only(table):
    found = []
    for number in (FEW, MANY):
        engine = WarmEngine(number, table)
        # The first piece also reads the computes.
        engine.kept.compare()
        found.append(engine.lines(engine.kept.compare))
    few, many = found
    assert len(few) > 10
    assert many == few


def test_a_change_of_use_replaces_the_hosts_of_the_plan_and_no_others(table):
    engine = WarmEngine(FEW, table)
    before = engine.kept.cached_snapshot().hosts
    engine.plan()
    after = engine.kept.cached_snapshot().hosts
    assert [host.name for host in after] == [host.name for host in before]
    assert sum(one is not other for one, other in zip(before, after)) == 10
