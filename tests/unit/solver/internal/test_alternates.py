# SPDX-License-Identifier: Apache-2.0
"""The search for alternates makes few calls of policies."""

from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.alternates.worst_case import WorstCase
from nova_holistic.solver.limits.current import limits
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.problem.rules import Rules
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers


def test_alternates_of_an_even_spread_need_few_checks(
        monkeypatch):
    snapshot = cloud(*(host(f'r{n // 20}h{n}', f'r{n // 20}')
                       for n in range(400)))
    wanted = group(servers('web', 60), policies=[
        Spread(level='rack', max_skew=1), AntiAffinity()])
    plan = solve(wanted, snapshot)
    asked = _counted(monkeypatch, WorstCase, 'admits')
    checked = _counted(monkeypatch, AntiAffinity, 'check')
    found = alternates(PlannedGroup(wanted, snapshot, plan), 4)
    assert {len(names) for names in found.values()} == {4}
    for path, names in found.items():
        assert {name.partition('h')[0] for name in names} == {
            plan.hosts()[path].partition('h')[0]}
    # Almost every examined candidate is admitted, and a few checks cover all
    # alternates together.
    assert len(asked) < 60 * 4 * 1.1
    assert len(checked) == 4 * 3


def test_a_rack_closed_to_all_members_is_checked_once(monkeypatch):
    snapshot = cloud(*(host(f'r{n // 20}h{n}', f'r{n // 20}')
                       for n in range(400)))
    wanted = group(servers('web', 19), policies=[AntiAffinity(level='rack')])
    plan = solve(wanted, snapshot)
    asked = _counted(monkeypatch, WorstCase, 'admits')
    found = alternates(PlannedGroup(wanted, snapshot, plan), 4)
    assert {len(names) for names in found.values()} == {4}
    assert len(asked) <= 19 * 4 + 20


def _counted(monkeypatch, kind, name):
    """Record the calls of a method; return the list of their arguments."""
    calls, real = [], getattr(kind, name)

    def counting(self, *args):
        calls.append(args)
        return real(self, *args)

    monkeypatch.setattr(kind, name, counting)
    return calls


def test_rows_are_written_about_few_hosts_of_a_large_cloud(monkeypatch):
    """Twice as many hosts need the same number of rows."""
    written = []
    for racks in (60, 120):
        snapshot = cloud(*(host(f'r{rack:03}h{n:02}', f'r{rack:03}')
                           for rack in range(racks) for n in range(20)))
        wanted = group(groups=[group(
            servers('web', 20), name=f'tier-{tier}',
            policies=[AntiAffinity()]) for tier in range(4)])
        plan = solve(wanted, snapshot)
        with monkeypatch.context() as patched:
            rows = _counted(patched, Rules, 'require')
            checked = _counted(patched, AntiAffinity, 'check')
            found = alternates(PlannedGroup(wanted, snapshot, plan), 2)
        assert {len(names) for names in found.values()} == {2}
        assert len(checked) == 4 * 3 * 2
        written.append(len(rows))
    fewer, more = written
    # The rows cover the tier's own hosts and its shortlist, and one row covers
    # the level.
    each = limits().alternates.hosts_per_member
    assert fewer == more <= 4 * (20 + 2 + each * 20 + 1)
