# SPDX-License-Identifier: Apache-2.0
"""A policy of an external package works like a policy of the project. It is
the example of the manual: one file and one entry point."""

import json
import os
import subprocess
import sys

import pytest

from nova_holistic.cli.main import main
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.source.text import load
from nova_holistic.model.plan import Plan
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.check import check
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, host
from tests.unit.policies.outside_package import (
    EXAMPLE, FOUR_RACKS, licensed, MANY_HOSTS, MANY_SIZES, ROOT)
from tests.unit.solver.clocks import standing

ZONES = ROOT / 'tests/data/two-zones.yaml'


def run(site, *words):
    """Run a process that finds the package in the folder."""
    return subprocess.run(
        [sys.executable, '-m', *map(str, words)], capture_output=True,
        text=True, timeout=300, cwd=site, env={
            **os.environ, 'XDG_CACHE_HOME': str(site / 'cache'),
            'PYTHONPATH': f'{site}{os.pathsep}{ROOT}'})


def racks(plan):
    return {placement.location for placement in plan.placements}


def test_the_plan_command_loads_an_external_policy(site):
    made = run(site, 'nova_holistic.cli.main', 'plan',
               EXAMPLE / 'licensed.yaml', '--inventory', ZONES,
               '--format', 'json')
    assert (made.returncode, made.stderr) == (0, '')
    plan = json.loads(made.stdout)
    assert len({tuple(p['location']) for p in plan['placements']}) == 2


def test_the_tests_of_the_example_package_pass(site):
    done = run(site, 'pytest', '-q', '-p', 'no:cacheprovider', '--rootdir',
               site, EXAMPLE / 'test_max_domains.py')
    assert done.returncode == 0, done.stdout


def test_the_check_command_applies_an_external_policy(types, tmp_path, capsys):
    group, plan = EXAMPLE / 'licensed.yaml', tmp_path / 'plan.json'
    assert main(['plan', str(group), '--inventory', str(ZONES),
                 '--format', 'json']) == 0
    document = json.loads(capsys.readouterr().out)
    words = ['check', str(group), '--inventory', str(ZONES),
             '--plan', str(plan)]
    plan.write_text(json.dumps(document))
    assert main(words) == 0
    # One server is moved to a third rack.
    used = {tuple(p['location']) for p in document['placements']}
    moved = next(h for h in load(ZONES.read_text())['hosts']
                 if tuple(h['location']) not in used)
    document['placements'][0].update(
        host=moved['name'], node=moved['name'], location=moved['location'])
    plan.write_text(json.dumps(document))
    capsys.readouterr()
    assert main(words) == 1
    assert capsys.readouterr().out.startswith(
        'max-domains: members are in 3 domains of level rack, and the limit '
        'is 2')


def test_an_external_policy_is_unknown_without_its_package(tmp_path, capsys):
    assert main(['plan', str(EXAMPLE / 'licensed.yaml'),
                 '--inventory', str(ZONES)]) == 2
    assert 'policies[0].type' in capsys.readouterr().err


@pytest.mark.parametrize('solver', ['highs', 'cbc'])
@pytest.mark.parametrize('objective', ['spread', 'fewest-hosts'])
def test_an_external_policy_overrules_the_objective(types, solver, objective):
    plan = solve(licensed(types), FOUR_RACKS, objective=objective,
                 settings=Settings(solver=solver))
    assert len(racks(plan)) == 2


def test_a_weighted_external_policy_yields_to_capacity(types):
    wanted = licensed(types, weight=3)
    plan = solve(wanted, FOUR_RACKS)
    assert len(racks(plan)) == 2
    assert plan.preferences[0].violations == 0
    # Each rack may have two servers, so six servers need three racks.
    tight = cloud(*(host(f'{rack}h1', rack, vcpus=8)
                    for rack in ('r1', 'r2', 'r3', 'r4')))
    plan = solve(wanted, tight)
    assert len(racks(plan)) == 3
    assert [(p.policy, p.violations) for p in plan.preferences] == [
        ('max-domains', 1)]


def test_an_external_policy_is_named_in_the_reasons(types):
    answer = solve(licensed(types, number=1), FOUR_RACKS)
    assert any('max-domains' in f'{r.at} {r.message}'
               for r in answer.reasons)
    # With another policy, both are named.
    group = parse_group({
        'name': 'g', 'members': [
            {'name': 'node', 'count': 3, 'resources': {'VCPU': 1}}],
        'policies': [
            {'type': 'max-domains', 'level': 'rack', 'number': 2},
            {'type': 'anti-affinity', 'level': 'rack'}]}, types)
    shown = str(solve(group, FOUR_RACKS).reasons)
    assert 'max-domains' in shown and 'anti-affinity' in shown


def test_alternates_satisfy_an_external_policy(types):
    wanted = licensed(types)
    plan = solve(wanted, FOUR_RACKS)
    for path, names in alternates(PlannedGroup(wanted, FOUR_RACKS, plan),
                                  10).items():
        for name in names:
            assert check(wanted, FOUR_RACKS, {
                **plan.hosts(), path: name}) == ()


def test_a_restricted_model_satisfies_an_external_policy(types):
    wanted = licensed(types, *MANY_SIZES, number=5)
    plan = solve(wanted, MANY_HOSTS, objective='fewest-hosts',
                 settings=Settings(time_limit=1, timer=standing))
    assert isinstance(plan, Plan), plan
    assert len(racks(plan)) <= 5


@pytest.mark.parametrize('strategy', ['whole', 'decomposed'])
def test_models_and_bounds_respect_the_policy(types, strategy):
    for number, least in ((1, None), (2, 3), (3, 3)):
        plan = solve(licensed(types, number=number), FOUR_RACKS,
                     objective='fewest-hosts', settings=Settings(strategy))
        if least is None:
            assert 'max-domains' in str(plan.reasons)
        else:
            assert plan.objective.bound <= least <= plan.objective.value
            assert len(racks(plan)) <= number
