# SPDX-License-Identifier: Apache-2.0
"""The manual's page about the solver names existing functions and modules, and
its examples work."""

import ast
import importlib
import inspect
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
from nova_holistic.solver.limits.current import limits
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers
from tests.unit.manual_tables import list_table
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


def _flow():
    """Each step of the flow to the names of the steps below it."""
    above, found = [], {}
    for prefix, *step in re.findall(
            r'^   ([ │├└─]*)(\w+)\(\) +([\w/]+)\.py', PAGE, re.MULTILINE):
        del above[len(prefix) // 3:]
        if above:
            found.setdefault(above[-1], []).append(step[0])
        above.append(tuple(step))
    return found


FLOW = _flow()

PHASES = [(name, module) for name, module in FLOW if module == 'solve']
"""Functions of solve.py with further steps."""


def _module(name):
    return importlib.import_module(
        f'{solver.__name__}.{name.replace("/", ".")}')


def _call(name):
    """A call of a function or class, or of a method of the class."""
    return re.compile(rf'(?<!\w)(?<!def )(?<!class ){name}[(.]')


def test_the_flow_begins_and_ends_with_solve():
    assert STEPS[0] == ('solve', 'solve')
    assert FLOW['solve', 'solve'][-1] == 'notify_observers'
    assert len({*STEPS}) >= 20


@pytest.mark.parametrize('step', FLOW, ids=':'.join)
def test_each_step_of_the_flow_is_called_by_the_step_above_it(step):
    source = inspect.getsource(_module(step[1]))
    assert not [name for name in FLOW[step] if not _call(name).search(source)]


@pytest.mark.parametrize('step', PHASES, ids=':'.join)
def test_the_flow_has_the_order_of_the_code(step):
    source = inspect.getsource(getattr(_module(step[1]), step[0]))
    position = 0
    for name in FLOW[step]:
        found = _call(name).search(source, position)
        assert found, f'{name} is not called after the steps before it'
        position = found.end()


@pytest.mark.parametrize('name, module', [
    ('_answer', 'solve'), ('_complete', 'solve'), ('_on_all_hosts', 'solve'),
    ('plan_on_chosen_hosts', 'phases/chosen_hosts'),
    ('find_better_plan', 'phases/better_plan')])
def test_the_flow_contains_each_phase_with_a_time_limit(name, module):
    """Every phase receives a deadline, or a task that has one. Outside
    solve.py, the flow does not show private functions."""
    source, shows_private = _module(module), module == 'solve'
    tree = ast.parse(inspect.getsource(
        getattr(source, name) if shows_private else source))
    phases = {
        call.func.id for call in ast.walk(tree) if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name) and {'deadline', 'task'} & {
            each.id for argument in call.args for each in ast.walk(argument)
            if isinstance(each, ast.Name)}}
    shown = {each for each in phases
             if shows_private or not each.startswith('_')}
    assert shown and shown <= {*FLOW[name, module]}


PACKAGES = [row[0].strip('`') for row in list_table(PAGE, 'Sub-packages')]


def test_each_sub_package_is_described():
    assert sorted(PACKAGES) == sorted(
        path.parent.name for path in FOLDER.glob('*/__init__.py'))
    described = re.findall(r'^``(\w+)``$', solver.__doc__, re.MULTILINE)
    assert sorted([*described, 'relaxations']) == sorted(PACKAGES)


def test_each_module_that_the_page_names_exists():
    named = {*re.findall(r'``([\w/]+\.py)``', PAGE)}
    assert {'problem/rules.py', 'limits/current.py'} <= named
    assert not [path for path in named
                if not (FOLDER / path).is_file() and not (
                    FOLDER.parents[1] / path).is_file()]


def test_each_limit_that_the_page_names_exists():
    current = limits()
    named = {(section, name) for section, name in re.findall(
        r'``(\w+)\.(\w+)``', PAGE) if hasattr(current, section)}
    assert len(named) >= 10
    assert not [(section, name) for section, name in named
                if not hasattr(getattr(current, section), name)]


def test_the_terms_contain_the_values_of_the_limits():
    phases = limits().phases
    assert (f'({phases.preferred_members} and '
            f'{phases.preferred_hosts:,})') in PAGE
    assert (f'({phases.diverse_policies} and '
            f'{phases.members_per_policy})') in PAGE


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
