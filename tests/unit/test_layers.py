# SPDX-License-Identifier: Apache-2.0
"""The permitted imports of each package, checked in the sources."""

import ast
import functools
import pathlib

import nova_holistic

ROOT = pathlib.Path(nova_holistic.__file__).parent

PURE = ('model', 'policies', 'objectives', 'documents', 'solver')
"""Packages without configuration, network, database or web."""

EXTERNAL_PACKAGES = (
    'nova', 'placement', 'sqlalchemy', 'alembic', 'webob', 'routes', 'heat',
    'flask', 'eventlet', 'requests')
"""Packages that no pure package imports, in addition to oslo* and
keystone*."""

ALLOWED = {
    'model': {'model'},
    'policies': {'policies', 'model'},
    'objectives': {'objectives', 'model'},
    'documents': {'documents', 'model'},
    'solver': {'solver', 'objectives', 'policies', 'model'},
    'topology': {'topology', 'documents', 'model', 'conf'},
    'inventory': {'inventory', 'topology', 'documents', 'metrics', 'model',
                  'conf'},
    'constraints': {'constraints', 'model'},
    'table': {'table', 'model', 'conf'},
    'metrics': {'metrics', 'table', 'conf'},
    'holds': {'holds', 'table', 'metrics', 'model', 'conf'},
    'messaging': {'messaging', 'holds', 'inventory', 'topology', 'table',
                  'model'},
    'engine': {'engine', 'messaging', 'holds', 'inventory', 'table',
               'constraints', 'documents', 'metrics', 'objectives',
               'policies', 'solver', 'model'},
    'repair': {'repair', 'engine', 'solver', 'policies', 'table', 'model'},
    'reconcile': {'reconcile', 'repair', 'engine', 'messaging', 'holds',
                  'inventory', 'metrics', 'table', 'model'},
    'boot': {'boot', 'engine', 'messaging', 'inventory', 'table', 'documents'},
    'service': {'service', 'boot', 'reconcile', 'engine', 'messaging',
                'inventory', 'metrics', 'table', 'model'},
    'federation': {'federation', 'boot', 'engine', 'messaging', 'inventory',
                   'topology', 'table', 'solver', 'documents', 'model'},
}
"""The packages of the project that each package may import. The imports form
no cycle."""


def _modules():
    return sorted(ROOT.rglob('*.py'))


def _package(path):
    """The package below nova_holistic that a module is in; '' at the top."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else ''


@functools.cache
def _imports(path):
    """Absolute names of all imports of a module, including those inside
    functions."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{path}: a relative import'
            found += (f'{node.module}.{alias.name}' for alias in node.names)
    return found


def _project_packages(path):
    """The packages of nova_holistic from which a module imports."""
    for name in _imports(path):
        parts = name.split('.')
        if parts[0] == 'nova_holistic' and len(parts) > 1 and (
                ROOT / parts[1]).is_dir():
            yield parts[1]


def _named(path):
    return str(path.relative_to(ROOT))


def _in(*packages):
    return [p for p in _modules() if _package(p) in packages]


def test_the_import_scan_finds_all_pure_packages():
    assert {_package(p) for p in _in(*PURE)} == set(PURE)
    assert 'pulp' in {name.split('.')[0] for p in _in('solver')
                      for name in _imports(p)}


def test_pure_packages_import_no_oslo_nova_sql_or_web_code():
    for path in _in(*PURE):
        for name in _imports(path):
            top = name.split('.')[0]
            assert top not in EXTERNAL_PACKAGES, f'{path}: {name}'
            assert not top.startswith(('oslo', 'keystone')), f'{path}: {name}'


def test_imports_go_in_one_direction():
    for path in _in(*ALLOWED):
        assert set(_project_packages(path)) <= ALLOWED[_package(path)], path


def test_the_engine_imports_none_of_its_callers():
    for path in _in('engine'):
        assert not set(_project_packages(path)) & {
            'api', 'cli', 'scheduler', 'embedded', 'heat', 'client'}, path


def test_only_scheduler_and_embedded_import_nova():
    for path in _modules():
        tops = {name.split('.')[0] for name in _imports(path)}
        if tops & {'nova', 'placement'}:
            # The last module is nova-scheduler's main function with our
            # driver.
            assert (_package(path) in ('scheduler', 'embedded')
                    or _named(path) == 'cli/scheduler.py'), path


def test_only_the_plug_ins_of_heat_import_heat():
    for path in _modules():
        if 'heat' in {name.split('.')[0] for name in _imports(path)}:
            assert _package(path) == 'heat', path
    assert {each for path in _in('heat')
            for each in _project_packages(path)} <= {
        'heat', 'client', 'documents', 'policies', 'model'}


def test_only_the_package_inside_its_scheduler_imports_cinder():
    # Cinder and Nova cannot be in one process.
    for path in _modules():
        if 'cinder' in {name.split('.')[0] for name in _imports(path)}:
            assert _package(path) == 'cinder', path
    assert {each for path in _in('cinder')
            for each in _project_packages(path)} <= {
        'cinder', 'scheduler', 'table', 'conf', 'model'}


def test_only_the_command_line_imports_the_embedded_cloud():
    for path in _modules():
        if 'embedded' in _project_packages(path):
            assert _package(path) in ('cli', 'embedded'), path


def test_modules_have_at_most_300_lines():
    lines = {_named(path): len(path.read_text().splitlines())
             for path in _modules()}
    assert {name: each for name, each in lines.items() if each > 300} == {}
