# SPDX-License-Identifier: Apache-2.0
"""The policy of the manual's example, installed as an external package."""

import pathlib
import shutil
import tomllib

import pytest
from stevedore import _cache
from stevedore.extension import ExtensionManager

import nova_holistic
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.policies import load_policy_types
from tests.unit.builders import cloud, host

ROOT = pathlib.Path(nova_holistic.__file__).parents[1]
EXAMPLE = ROOT / 'doc/source/contributor/examples/max-domains'

FOUR_RACKS = cloud(*(host(f'{rack}h{n}', rack, vcpus=8)
                     for rack in ('r1', 'r2', 'r3', 'r4') for n in (1, 2)))

MANY_HOSTS = cloud(*(host(f'h{n}', f'r{n % 35}', vcpus=32)
                     for n in range(700)))
MANY_SIZES = [
    {'name': f'n{size}', 'count': 5, 'resources': {'VCPU': size}}
    for size in range(1, 31)]
"""These members on these hosts are too many for one program."""


@pytest.fixture(scope='module')
def site(tmp_path_factory):
    """A folder with the example, as pip would install it."""
    folder = tmp_path_factory.mktemp('site')
    project = tomllib.loads((EXAMPLE / 'pyproject.toml').read_text())
    for name in project['tool']['setuptools']['py-modules']:
        shutil.copy(EXAMPLE / f'{name}.py', folder)
    about = folder / 'nova_holistic_max_domains-1.0.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text(
        'Metadata-Version: 2.1\n'
        f'Name: {project["project"]["name"]}\nVersion: 1.0\n')
    (about / 'entry_points.txt').write_text('\n'.join(
        line for space, entries in project['project']['entry-points'].items()
        for line in (f'[{space}]', *(
            f'{name} = {value}' for name, value in entries.items()))))
    return folder


@pytest.fixture
def types(site):
    """The policy types that documents may name in a process that finds the
    package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        # stevedore caches its results, in memory and in files.
        patch.setattr(ExtensionManager, 'ENTRY_POINT_CACHE', {})
        patch.setattr(_cache, '_c', _cache.Cache(str(site / 'cache')))
        yield load_policy_types()


def licensed(types, *members, **keys):
    return parse_group({
        'name': 'licensed',
        'members': list(members) or [
            {'name': 'node', 'count': 6, 'resources': {'VCPU': 4}}],
        'policies': [{'type': 'max-domains', 'level': 'rack', 'number': 2,
                      **keys}]}, types)
