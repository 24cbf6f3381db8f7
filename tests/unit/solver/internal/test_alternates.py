# SPDX-License-Identifier: Apache-2.0
"""The search for alternates makes few calls of policies, and few searches for
providers."""

from dataclasses import replace

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.alternates import served_hosts
from nova_holistic.solver.alternates.worst_case import WorstCase
from nova_holistic.solver.limits.current import limits, using
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


def with_devices(name, rack):
    return host(name, rack, vcpus=64, providers=(NestedProvider(
        f'{name}-gpu', f'{name}-gpu', '',
        FrozenMapping({'VGPU': Inventory(64)})),))


def _planned_with_devices(members, hosts):
    snapshot = cloud(*(with_devices(f'h{n}', f'r{n % 10}')
                       for n in range(hosts)))
    wanted = group(MemberDescription('web', Requirements(
        FrozenMapping({'VCPU': 1}), request_groups=(
            RequestGroup('_gpu', FrozenMapping({'VGPU': 1})),)), members))
    return PlannedGroup(wanted, snapshot, solve(
        wanted, snapshot, objective='fewest-hosts'))


def test_equal_members_need_one_search_for_providers_on_each_host(
        monkeypatch):
    planned = _planned_with_devices(20, 100)
    searched = _searches(monkeypatch, served_hosts.can_serve)
    found = alternates(planned, 3)
    assert {len(names) for names in found.values()} == {3}
    used = {name for names in found.values() for name in names}
    assert sorted(searched) == sorted(used)


def test_the_number_of_searches_for_providers_is_limited(monkeypatch):
    """No search finds providers. Each member tries a few hosts, and no member
    tries a host that was tried for an equal member."""
    planned = _planned_with_devices(4, 200)
    searched = _searches(monkeypatch, lambda *args: False)
    found = alternates(planned, 3)
    assert not any(found.values())
    assert len(searched) == len({*searched}) == (
        4 * limits().alternates.failed_hosts)


def test_an_undecided_host_is_no_alternate():
    planned = _planned_with_devices(2, 4)
    chosen = limits()
    with using(replace(chosen, trees=replace(chosen.trees, check_steps=0))):
        assert not any(alternates(planned, 3).values())


def _searches(monkeypatch, result):
    """Replace the search for providers; return the names of the hosts of all
    searches."""
    names = []

    def counting(host, members, classes):
        names.append(host.name)
        return result(host, members, classes)

    monkeypatch.setattr(served_hosts, 'can_serve', counting)
    return names
