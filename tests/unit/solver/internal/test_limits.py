# SPDX-License-Identifier: Apache-2.0
"""All limits of the solver are documented fields of one object."""

import ast
from dataclasses import fields, is_dataclass, replace
import pathlib
import re

import pytest

from nova_holistic import solver
from nova_holistic.model.plan import Plan, Unknown
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.diagnosis.explain import explain
from nova_holistic.solver.limits.current import Limits, limits, using
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve
from tests.unit.builders import group, servers, two_racks
from tests.unit.solver.internal.limited import limited

FOLDER = pathlib.Path(solver.__file__).parent
PLACES = ('limits', 'numerics/tolerances.py', 'improve/settings.py')
"""Files that define constant and default numbers."""

SECTIONS = [field.name for field in fields(Limits)]


def _documented(kind):
    """Return the fields that the docstring describes, with the text of each.
    """
    return {name: ' '.join(text.split()) for name, text in re.findall(
        r':ivar (\w+):((?:(?!:ivar)[\s\S])+)', kind.__doc__)}


@pytest.mark.parametrize('section', SECTIONS)
def test_each_limit_is_described(section):
    kind = type(getattr(Limits(), section))
    texts = _documented(kind)
    assert list(texts) == [field.name for field in fields(kind)]
    for name, text in texts.items():
        assert len(text.split()) >= 2, name


def test_each_section_is_described():
    assert list(_documented(Limits)) == SECTIONS
    assert all(is_dataclass(getattr(Limits(), name)) for name in SECTIONS)


def _numbers(path):
    """Generate the constants of a module that are numbers or tuples of
    numbers."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign):
            value = node.value
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            if ast.unparse(node.targets[0]).isupper() and parts and all(
                    _is_number(part) for part in parts):
                yield ast.unparse(node)


def _is_number(node):
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and isinstance(
        node.value, int | float)


def test_numbers_of_modules_are_limits_or_tolerances():
    found = {str(path.relative_to(FOLDER)): [*_numbers(path)]
             for path in sorted(FOLDER.rglob('*.py'))}
    assert found['numerics/tolerances.py']
    assert not {path: numbers for path, numbers in found.items()
                if numbers and not path.startswith(PLACES)}


@pytest.mark.parametrize('source, count', [
    ('_MOST = 3', 1), ('_SHARES = (0.1, 0.5)', 1), ('_SIZE = 2**20', 1),
    ('_LEAST = -1.0', 1), ('_NAMES = ("a", "b")', 0), ('_inside = 0', 0),
    ('_ANY = most(3)', 0),
    ('def most():\n    number = 3', 0)])
def test_a_number_of_a_module_is_seen(source, count, tmp_path):
    path = tmp_path / 'module.py'
    path.write_text(source)
    assert len([*_numbers(path)]) == count


def _read():
    """Return the fields of limits that modules use, by section."""
    sections = {}
    for path in sorted(FOLDER.rglob('*.py')):
        text = path.read_text()
        section_of = {
            each.asname or each.name: each.name
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.ImportFrom)
            and node.module == 'nova_holistic.solver.limits.current'
            for each in node.names if each.name in SECTIONS}
        for alias, section in section_of.items():
            for field in re.findall(rf'\b{alias}\(\)\.(\w+)', text):
                sections.setdefault(section, set()).add(field)
    return sections


def test_each_limit_is_used():
    assert _read() == {
        section: {field.name for field in fields(getattr(Limits(), section))}
        for section in SECTIONS}


def test_limits_are_in_effect_inside_a_block_only():
    before = limits()
    with limited('construct', restarts=1):
        assert limits().construct.restarts == 1
        with using(before):
            assert limits().construct.restarts == before.construct.restarts
        assert limits().construct.restarts == 1
    assert limits() is before


def test_a_call_has_limits_of_its_own():
    wanted = group(servers('db', 2), policies=[AntiAffinity(level='rack')])
    chosen = replace(Limits(), problem=replace(
        Limits().problem, array_bytes=1))
    assert isinstance(
        solve(wanted, two_racks(), settings=Settings(limits=chosen)), Unknown)
    assert isinstance(solve(wanted, two_racks()), Plan)


def test_alternates_and_explanations_have_the_limits_of_their_call():
    """Without hosts on the shortlist, a member has no alternates. The limit is
    added to the number of alternates, so it is negative here."""
    wanted = group(servers('db'))
    snapshot = two_racks(3)
    planned = PlannedGroup(wanted, snapshot, solve(wanted, snapshot))
    chosen = Settings(limits=replace(
        Limits(), alternates=replace(
            Limits().alternates, all_hosts=0, hosts_per_member=-1,
            hosts_of_group=-1),
        diagnosis=replace(Limits().diagnosis, moves=0)))
    assert all(alternates(planned, 1).values())
    assert not any(alternates(planned, 1, settings=chosen).values())
    (few,) = explain(planned, 'spread', settings=chosen)
    (many,) = explain(planned, 'spread')
    assert few.tried == 3 < many.tried
