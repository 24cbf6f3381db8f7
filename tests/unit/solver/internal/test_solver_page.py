# SPDX-License-Identifier: Apache-2.0
"""The manual's page about the solver names existing functions and modules, and
its examples work."""

import importlib
import pathlib
import re
import runpy

import pytest

import nova_holistic
from nova_holistic.model.plan import Plan
from nova_holistic import plugins
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic import solver
from nova_holistic.solver.check import check
from nova_holistic.solver.construct import greedy
from nova_holistic.solver.improve import neighbourhoods
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers
from tests.unit.policies.outside_package import FOUR_RACKS, licensed
from tests.unit.solver.clocks import standing

FOLDER = pathlib.Path(solver.__file__).parent
MANUAL = pathlib.Path(
    nova_holistic.__file__).parents[1] / 'doc/source/contributor'
PAGE = (MANUAL / 'solver.rst').read_text()
EXAMPLES = MANUAL / 'examples'

STEPS = re.findall(r'(\w+)\(\) +([\w/]+)\.py', PAGE)
"""(name, module) of the functions and classes of the flow."""


@pytest.mark.parametrize('name, module', STEPS)
def test_each_step_of_the_flow_exists(name, module):
    dotted = f'{solver.__name__}.{module.replace("/", ".")}'
    assert callable(getattr(importlib.import_module(dotted), name))


def test_the_flow_is_whole():
    assert [*dict.fromkeys(STEPS)][0] == ('solve', 'solve')
    assert len({*STEPS}) >= 20


def test_each_module_that_the_page_names_exists():
    named = {*re.findall(r'``([\w/]+\.py)``', PAGE)}
    assert {'problem/rules.py', 'limits/current.py'} <= named
    assert not [path for path in named
                if not (FOLDER / path).is_file() and not (
                    FOLDER.parents[1] / path).is_file()]


def test_a_policy_of_another_package_is_used(types):
    found = solve(licensed(types), FOUR_RACKS)
    assert isinstance(found, Plan)
    assert len({placement.location for placement in found.placements}) == 2


def test_an_objective_of_another_package_is_used(monkeypatch):
    load = plugins.load
    coolest = runpy.run_path(str(EXAMPLES / 'coolest.py'))['Coolest']
    monkeypatch.setattr(plugins, 'load', lambda namespace, name, kind: (
        coolest if name == 'coolest' else load(namespace, name, kind)))
    found = solve(group(servers('node', 2)), FOUR_RACKS, objective='coolest')
    assert found.objective.name == 'coolest'
    # The snapshot has no temperatures, so one host is enough.
    assert found.objective.value == 100.0


def test_a_new_neighbourhood_improves_a_plan(monkeypatch):
    """Greedy construction prefers empty hosts and puts each member on its own
    host."""
    example = runpy.run_path(str(EXAMPLES / 'lone_members.py'))['LoneMembers']
    monkeypatch.setattr(greedy, 'ORDERINGS', greedy.ORDERINGS[:1])
    hosts = cloud(*(host(f'h{n:02}', f'r{n % 4}', vcpus=8)
                    for n in range(24)))
    wanted = group(servers('web', 12), policies=[
        AntiAffinity(level='rack', max_per_domain=6)])

    def answer():
        found = solve(
            wanted, hosts, objective='fewest-hosts',
            settings=Settings(
                'neighbourhoods', Improvement(
                    ('lone-members',), failures=10, share=1.0, seconds=3.0),
                timer=standing))
        assert not check(wanted, hosts, found.hosts())
        return found.objective.value

    with pytest.raises(ValueError, match='lone-members'):
        answer()
    monkeypatch.setitem(neighbourhoods.NEIGHBOURHOODS, 'lone-members',
                        example())
    assert answer() == 2
