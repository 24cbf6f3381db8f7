# SPDX-License-Identifier: Apache-2.0
"""Unplaceable groups, each with the message that helps a user most."""

import copy
import pathlib
import re

import pytest
import yaml

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.solve import solve

DATA = pathlib.Path(__file__).parents[2] / 'data'
CASES = sorted((DATA / 'unplaceable').glob('*.yaml'))
TYPES = load_policy_types()


def _read(file):
    case = yaml.safe_load(file.read_text())
    inventory = case['inventory']
    if isinstance(inventory, str):
        inventory = yaml.safe_load((DATA / f'{inventory}.yaml').read_text())
    return case, parse_inventory(inventory)


def _without(document, place):
    """Return the document without the element at the place.

    If this leaves a list or mapping without elements, it is removed, too.
    """
    document = copy.deepcopy(document)
    steps = [int(step) if step.isdigit() else step
             for step in re.findall(r'\w+', place)]
    parents = [document]
    for step in steps:
        parents.append(parents[-1][step])
    for parent, step in zip(reversed(parents[:-1]), reversed(steps)):
        del parent[step]
        if parent:
            break
    return document


@pytest.mark.parametrize('file', CASES, ids=lambda file: file.stem)
def test_each_case_gives_the_expected_reasons(file):
    case, snapshot = _read(file)
    group = parse_group(case['group'], TYPES)
    answer = solve(group, snapshot)
    assert isinstance(answer, Unplaceable)
    assert answer.minimal
    paths = {scope.path for scope in group.scopes()} | {
        member.description for member in group.all_members()}
    assert {at for r in answer.reasons for at in r.at.split(', ')} <= paths
    assert [f'{r.at}: {r.message}' if r.at else r.message
            for r in answer.reasons] == case['reasons']


@pytest.mark.parametrize('file', CASES, ids=lambda file: file.stem)
def test_dropping_any_named_reason_makes_the_case_placeable(file):
    case, snapshot = _read(file)
    for place in case['drop']:
        group = parse_group(_without(case['group'], place), TYPES)
        assert isinstance(solve(group, snapshot), Plan), place


def test_there_are_at_least_twenty_cases():
    assert len(CASES) >= 20
