# SPDX-License-Identifier: Apache-2.0
"""Other code and tests use only the public modules of the solver and replace
no part of them. The solver can therefore be rebuilt without changes outside
tests/unit/solver/internal."""

import ast
import graphlib
import pathlib
import re

import pytest

import nova_holistic
from nova_holistic import solver
from tests.unit.manual_tables import list_table

PACKAGE = 'nova_holistic.solver'
INTERNAL = 'tests.unit.solver.internal'
ROOT = pathlib.Path(nova_holistic.__file__).parents[1]
OWN = (ROOT / 'nova_holistic/solver', ROOT / 'tests/unit/solver/internal')
PUBLIC = {f'{PACKAGE}.{name}' for name in solver.__all__}


def _modules():
    """Modules of the project and of its tests outside the solver that contain
    its name, with their syntax trees."""
    for folder in ('nova_holistic', 'tests'):
        for path in sorted((ROOT / folder).rglob('*.py')):
            if not any(path.is_relative_to(own) for own in OWN):
                source = path.read_text()
                # Other modules cannot name one of its modules.
                if 'solver' in source:
                    yield path, ast.parse(source)


def _imported(tree):
    """The imports as (module, local name or None)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, alias.asname
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield f'{node.module}.{alias.name}', (
                    alias.asname or alias.name)
                yield node.module, None


def _names_in_strings(tree):
    """Dotted names in strings, as mock.patch and import_module take them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(
                rf'^{re.escape(PACKAGE)}(?:\.\w+)+', node.value)


def _module(name):
    """The module of the solver that a dotted name belongs to."""
    parts = name.split('.')
    for length in range(len(parts), 2, -1):
        if '.'.join(parts[:length]) in PUBLIC:
            return '.'.join(parts[:length])
    return '.'.join(parts[:3])


def _internal(tree):
    """Uses of internal modules of the solver and of their tests."""
    names = [name for name, _ in _imported(tree)] + [*_names_in_strings(tree)]
    for name in names:
        if name.startswith(f'{PACKAGE}.') and _module(name) not in PUBLIC and (
                not any(each.startswith(f'{name}.') for each in PUBLIC)):
            yield name
        if f'{name}.'.startswith(f'{INTERNAL}.'):
            yield name


def _patched(tree):
    """Attributes of the solver's modules that are replaced."""
    modules = {known for name, known in _imported(tree)
               if known and name in PUBLIC}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(
                node.func, ast.Attribute) and node.func.attr in (
                    'setattr', 'delattr', 'object'):
            if isinstance(node.args[0], ast.Name) and (
                    node.args[0].id in modules):
                yield ast.unparse(node)
        for target in getattr(node, 'targets', ()):
            if isinstance(target, ast.Attribute) and isinstance(
                    target.value, ast.Name) and target.value.id in modules:
                yield ast.unparse(node)
    yield from (name for name in _names_in_strings(tree)
                if _module(name) != name)


def test_only_public_modules_of_the_solver_are_used():
    found = {}
    for path, tree in _modules():
        if names := [*_internal(tree), *_patched(tree)]:
            found[str(path.relative_to(ROOT))] = names
    assert found == {}


@pytest.mark.parametrize('source', [
    'from nova_holistic.solver import search',
    'from nova_holistic.solver.milp.search import Search',
    'import nova_holistic.solver.milp.search as search',
    'def late():\n    from nova_holistic.solver import large',
    'mock.patch("nova_holistic.solver.milp.search.Search")',
    'importlib.import_module("nova_holistic.solver.large")',
    'from tests.unit.solver.internal import deadlines',
    'from tests.unit.solver.internal.deadlines import in_time'])
def test_use_of_an_internal_module_is_detected(source):
    assert [*_internal(ast.parse(source))]


@pytest.mark.parametrize('source', [
    'from nova_holistic.solver import solve\n'
    'monkeypatch.setattr(solve, "planned", None)',
    'from nova_holistic.solver import solve as solving\n'
    'solving.planned = None',
    'from nova_holistic.solver import check\n'
    'mock.patch.object(check, "bind")',
    'monkeypatch.setattr("nova_holistic.solver.solve.planned", None)'])
def test_a_replaced_part_is_detected(source):
    assert [*_patched(ast.parse(source))]


@pytest.mark.parametrize('source', [
    'from nova_holistic.solver.solve import solve\nsolve(group, snapshot)',
    'from nova_holistic.solver import check as judge\njudge.check(plan)',
    'import nova_holistic.solver.settings',
    'from nova_holistic.solver.milp import backend\nlen(backend.NAMESPACE)',
    '"The solver is in nova_holistic.solver."',
    'monkeypatch.setattr(deciding, "solve", None)'])
def test_use_of_the_public_modules_is_allowed(source):
    tree = ast.parse(source)
    assert not [*_internal(tree)] and not [*_patched(tree)]


def test_the_public_modules_exist_and_are_used():
    used = {_module(name) for _, tree in _modules()
            for name, _ in _imported(tree)}
    for name in solver.__all__:
        found = ROOT / 'nova_holistic/solver' / name.replace('.', '/')
        assert found.is_dir() or found.with_suffix('.py').is_file()
        assert f'{PACKAGE}.{name}' in used


ORDER = [row[0].strip('`') for row in list_table((
    ROOT / 'doc/source/contributor/solver.rst').read_text(), 'Sub-packages')]
"""Sub-packages, as the manual lists them. Each may import itself and the
preceding ones."""


def _imported_units():
    """The sub-packages, and the modules that are in none, to those that they
    import."""
    found = {}
    for path in sorted(OWN[0].rglob('*.py')):
        unit = path.relative_to(OWN[0]).parts[0].removesuffix('.py')
        names = found.setdefault(unit, set())
        for name, _ in _imported(ast.parse(path.read_text())):
            if name.startswith(f'{PACKAGE}.'):
                names.add(name.removeprefix(f'{PACKAGE}.').split('.')[0])
        names.discard(unit)
    return found


UNITS = _imported_units()


@pytest.mark.parametrize('package', ORDER)
def test_sub_packages_import_in_one_direction(package):
    later = ORDER[ORDER.index(package) + 1:]
    assert UNITS[package].isdisjoint(later)


def test_modules_outside_the_sub_packages_close_no_cycle():
    graphlib.TopologicalSorter(UNITS).prepare()
