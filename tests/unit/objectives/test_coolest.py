# SPDX-License-Identifier: Apache-2.0
"""The objective of the manual, which uses statistics."""

import pathlib
import runpy

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic import plugins, policies
from nova_holistic.solver.solve import solve

FILE = (pathlib.Path(__file__).parents[3]
        / 'doc/source/contributor/examples/coolest.py')


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """The objective as its entry point would load it."""
    load, found = plugins.load, runpy.run_path(str(FILE))['Coolest']
    monkeypatch.setattr(plugins, 'load', lambda namespace, name, kind: (
        found if name == 'coolest' else load(namespace, name, kind)))


def cloud(*temperatures):
    """Hosts with capacity for two servers each. None means not measured."""
    return parse_inventory({'levels': ['host'], 'hosts': [
        {'name': f'cmp-{i}', 'resources': {'VCPU': {'total': 2}},
         'statistics': {} if heat is None else {'cpu_temperature': heat}}
        for i, heat in enumerate(temperatures)]})


def servers(count):
    return parse_group({'group': {'name': 'batch', 'members': [
        {'name': 'node', 'count': count, 'resources': {'VCPU': 1}}]}},
        policies.load_policy_types())


def test_the_coolest_hosts_are_chosen():
    plan = solve(servers(4), cloud(70.0, 35.5, 61.0, 20.0, None),
                 objective='coolest')
    assert set(plan.hosts().values()) == {'cmp-1', 'cmp-3'}
    assert plan.objective.value == pytest.approx(55.5)


def test_a_host_without_statistics_is_chosen_last():
    plan = solve(servers(3), cloud(None, 99.0, 98.0), objective='coolest')
    assert set(plan.hosts().values()) == {'cmp-1', 'cmp-2'}


def test_the_coolest_of_500_hosts_are_chosen():
    heats = [20.0 + (i * 37) % 500 / 10 for i in range(500)]
    plan = solve(servers(6), cloud(*heats), objective='coolest')
    assert plan.objective.value == pytest.approx(sum(sorted(heats)[:3]))
