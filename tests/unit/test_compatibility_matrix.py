# SPDX-License-Identifier: Apache-2.0
"""The compatibility matrix agrees with the code and its tests."""

import configparser
import pathlib
import re

from alembic.script import ScriptDirectory
from nova_holistic.holds.requests import MICROVERSION
from nova_holistic.inventory.resource_providers import placement_schema
from nova_holistic import supported
import placement.db.sqlalchemy

from tests.unit.manual_tables import list_table

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / 'doc/source/admin/compatibility.rst').read_text()
TESTS = (ROOT / 'doc/source/contributor/compatibility.rst').read_text()
CONSTRAINTS = dict(re.findall(
    r'^([\w.-]+)==(\S+)$', (ROOT / 'constraints.txt').read_text(), re.M))


def _supported():
    return {row[0]: row[1] for row in list_table(PAGE, 'Supported versions')}


def _tested():
    return [row[:2] for row in list_table(PAGE, 'Tested combinations')]


def _smoke():
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / 'tox.ini')
    section, = (name for name in tox if name.startswith('testenv:smoke-'))
    names = re.search(r'\{(.+)\}', section)[1].split(',')
    versions = dict(re.findall(r'(nova\d+): \S+/install-with-nova.sh (\S+)',
                               tox[section]['install_command']))
    return names, versions


def _listed(first, last, prefix=''):
    *most, end = (f'{prefix}{number}' for number in range(first, last + 1))
    return f'{", ".join(most)} and {end}'


def test_the_versions_of_nova_and_python_are_the_supported_ones():
    rows = _supported()
    assert rows['Nova'] == _listed(*supported.NOVA)
    (major, first), (_, last) = supported.PYTHON
    assert rows['Python'] == _listed(first, last, f'{major}.')


def test_the_microversion_is_that_of_the_requests_for_holds():
    assert _supported()['Placement'] == f'microversion {MICROVERSION} or later'


def test_the_schemas_of_placement_are_those_that_the_driver_accepts():
    newest = CONSTRAINTS['openstack-placement']
    assert _supported()[
        'Database of Placement, with the driver ``placement-db``'] == (
        f'the schemas of Placement 6.0.0 (Xena) to {newest}')
    assert f'All of them use Placement {newest}.' in PAGE
    assert f'consumers, to {newest}.' in pathlib.Path(
        placement_schema.__file__).read_text()
    migrations = ScriptDirectory(str(pathlib.Path(
        placement.db.sqlalchemy.__file__).parent / 'alembic'))
    head = migrations.get_current_head()
    assert head in placement_schema.SUPPORTED
    # No revision between two supported ones is missing.
    known = [each.revision for each in migrations.walk_revisions()]
    ages = sorted(map(known.index, placement_schema.SUPPORTED))
    assert ages == list(range(len(placement_schema.SUPPORTED)))


def test_each_tested_combination_is_an_environment_of_tox():
    names, versions = _smoke()
    newest = CONSTRAINTS['nova']
    oldest_python = '.'.join(map(str, supported.PYTHON[0]))
    expected = {(versions.get(name, newest), oldest_python)
                for name in names if name.startswith('nova')}
    expected |= {(newest, f'{name[2]}.{name[3:]}')
                 for name in names if name.startswith('py')}
    assert {(nova, python.rpartition('.')[0])
            for nova, python in _tested()} == expected
    assert {int(nova.partition('.')[0]) for nova, _ in expected} == set(
        range(supported.NOVA[0], supported.NOVA[1] + 1))


def test_both_pages_agree_on_the_tests():
    names, _ = _smoke()
    assert re.findall(r'tox.sh -e smoke-(\w+)', TESTS) == names
    novas = sorted({nova for nova, _ in _tested()})
    assert (f'passed with Nova {novas[0]}, {novas[1]} and {novas[2]} on '
            'Python') in ' '.join(TESTS.split())
    for _, python in _tested():
        assert python in TESTS
    number = re.search(r"([\d,]+) of Nova's own tests", PAGE)[1]
    assert f'The complete selection has {number} tests' in ' '.join(
        TESTS.split())
