# SPDX-License-Identifier: Apache-2.0
"""A machine that plans from files needs only the core. Each other part is an
extra with all requirements of that part."""

import ast
import configparser
import importlib
import importlib.metadata
import pathlib
import subprocess
import sys

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
import pytest

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / 'nova_holistic'

CORE = ('model', 'policies', 'objectives', 'documents', 'solver', 'picture')
SHARED = ('conf', 'constraints', 'engine', 'holds', 'inventory', 'messaging',
          'notifications', 'reconcile', 'repair', 'service', 'table',
          'topology')

OFFLINE = """
import importlib.abc, json, sys

class Refused(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition('.')[0]
        if top == 'nova' or top.startswith((
                'oslo_', 'keystone', 'sqlalchemy', 'alembic', 'webob',
                'routes', 'memcache', 'tenacity', 'futurist', 'openstack',
                'osc_lib', 'requests')):
            raise ModuleNotFoundError(f'No module named {name!r}')

sys.meta_path.insert(0, Refused())
"""
"""Hides all modules that belong to an extra."""

FILES = OFFLINE + """
from nova_holistic.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def setup():
    parser = configparser.ConfigParser()
    parser.read(ROOT / 'setup.cfg')
    return parser


def names(lines):
    """The names of the packages in lines of requirements."""
    return {canonicalize_name(Requirement(line).name) for line in lines
            if line.strip() and not line.startswith('#')}


def core():
    return names((ROOT / 'requirements.txt').read_text().splitlines())


def extra(name):
    return names(setup()['extras'][name].splitlines())


def imported(*folders):
    """The packages whose modules the folders import."""
    packages = importlib.metadata.packages_distributions()
    found = set()
    for folder in folders:
        for path in (PACKAGE / folder).rglob('*.py'):
            for node in ast.walk(ast.parse(path.read_text())):
                modules = []
                if isinstance(node, ast.Import):
                    modules = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    modules = [node.module]
                for module in modules:
                    top = module.partition('.')[0]
                    found |= {canonicalize_name(each)
                              for each in packages.get(top, ())}
    return found - {'nova-holistic', 'setuptools'}


OPTIONAL = {'resvg-py', 'ziafont', 'prometheus-client', 'nova'}
"""Packages with their own extras: png, metrics, nova."""

BROUGHT = {'requests', 'openstacksdk'}
"""Requirements of keystoneauth1 and oslo.limit."""


def test_the_core_is_light():
    assert not {name for name in core() if name.startswith((
        'oslo', 'keystone', 'sqlalchemy', 'alembic', 'python-memcached',
        'webob', 'routes'))}
    assert imported(*CORE) - OPTIONAL <= core()


def test_the_commands_on_files_need_only_the_core(tmp_path):
    def run(*words):
        done = subprocess.run(
            [sys.executable, '-c', FILES, *map(str, words)],
            capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (0, '')
        return done.stdout

    group, cloud = ROOT / 'examples/shop.yaml', ROOT / (
        'examples/two-zones.yaml')
    plan = tmp_path / 'plan.json'
    plan.write_text(run('plan', group, '--inventory', cloud, '--format',
                        'json', '--explain'))
    run('check', group, '--inventory', cloud, '--plan', plan)
    run('map', plan, '--inventory', cloud, '--group', group, '-o',
        tmp_path / 'map.svg')
    run('template', ROOT / 'tests/data/shop-hot.yaml', '-o', tmp_path)


@pytest.mark.parametrize('program, extra', [
    ('engine', 'engine'), ('manage', 'engine'), ('status', 'engine'),
    ('scheduler', 'nova')])
def test_a_program_without_its_extra_names_the_extra(program, extra):
    done = subprocess.run(
        [sys.executable, '-c', OFFLINE + 'from nova_holistic.cli import '
         f'programs; sys.exit(programs.{program}())'],
        capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (2, '')
    line, = done.stderr.splitlines()
    assert line.startswith(f'nova-holistic-{program}: ')
    assert line.endswith(f"pip install 'nova_holistic[{extra}]'")


def test_the_scripts_start_programs_that_exist():
    scripts = setup()['entry_points']['console_scripts'].split('\n')
    for line in filter(None, scripts):
        name, _, target = line.partition(' = ')
        module, _, function = target.partition(':')
        assert callable(getattr(importlib.import_module(module), function))
    assert len(scripts) == 6


@pytest.mark.parametrize('name, folders', [
    ('engine', SHARED), ('api', (*SHARED, 'api')), ('client', ('client',))])
def test_an_extra_has_all_that_its_part_imports(name, folders):
    assert imported(*folders) <= core() | extra(name) | OPTIONAL | BROUGHT


def test_the_metadata_name_the_author_and_the_source():
    metadata = setup()['metadata']
    assert metadata['author']
    assert metadata['home_page'] in metadata['project_urls']


@pytest.mark.parametrize('name', [
    'CONTRIBUTING.rst', 'HACKING.rst', 'SECURITY.rst', '.gitreview',
    '.pre-commit-config.yaml'])
def test_the_files_that_contributors_expect_are_there(name):
    assert (ROOT / name).stat().st_size > 50
