# SPDX-License-Identifier: Apache-2.0
"""The commands of the manual that create the servers of a group in its clouds,
and delete them."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from nova_holistic.embedded.calls.servers import IMAGE
from tests.functional.federation.test_federation import held
from tests.functional.federation.test_manual import PAGE
from tests.functional.federation.world import (
    objections, PROJECT, SMALL, USER)

MEMBER = {'flavor': 'small',
          'server': {'imageRef': IMAGE, 'networks': 'none'}}


def shop(description):
    """Two servers in one cloud, and two in different clouds."""
    return {'name': 'shop', 'groups': [
        {'name': 'web', 'members': [
            {'name': 'node', 'count': 2, 'location': 'ams', **description}]},
        {'name': 'db', 'policies': [
            {'type': 'anti-affinity', 'level': 'cloud'}],
         'members': [{'name': 'node', 'count': 2, **description}]}]}


def commands():
    """The commands of the section, as they are printed."""
    _, _, rest = PAGE.read_text().partition('\nCreate the servers\n')
    section, _, _ = rest.partition('\nChange a group\n')
    return [shlex.split(line) for line in re.findall(
        r'^   \$ (.*)$', section, re.MULTILINE)]


def entry(url):
    return {'auth_type': 'admin_token',
            'auth': {'endpoint': url, 'token': f'{USER}:{PROJECT}'}}


@pytest.fixture
def run(clouds, start_parent, tmp_path):
    """A function that runs a command of a user of three clouds."""
    parent = start_parent()
    (tmp_path / 'shop.yaml').write_text(yaml.safe_dump(shop(MEMBER)))
    entries = {name: entry(f'{cloud.url}/compute')
               for name, cloud in clouds.items()}
    entries['europe'] = entry(parent.process.url)

    def run(words, code=0, without=()):
        (tmp_path / 'clouds.yaml').write_text(yaml.safe_dump({'clouds': {
            name: each for name, each in entries.items()
            if name not in without}}))
        done = subprocess.run(
            words, capture_output=True, text=True, cwd=tmp_path, timeout=200,
            env={**os.environ, 'PATH': os.pathsep.join(
                [os.path.dirname(sys.executable), os.environ['PATH']])})
        assert done.returncode == code, done.stderr
        return done.stdout or done.stderr
    return run


def servers(clouds):
    """Host of each server by its cloud and its UUID."""
    return {(name, server): host for name, cloud in clouds.items()
            for server, host in cloud.report()['servers'].items()}


def test_servers_are_created_in_the_clouds_of_their_members(clouds, run):
    create, listing, boot, rollback = commands()
    # Without the configuration of a cloud, no server is created.
    refused = run(create, 1, without=['ams'])
    assert 'cloud ams: clouds.yaml has no entry ams' in refused
    assert servers(clouds) == {}
    assert len(held(clouds)) == 4

    # The same command continues with the group.
    assert re.search(r'\| members +\| claimed: 4|built: 4', run(create))
    members = {each['member']: each for each in json.loads(
        run([*listing, '-c', 'instance_uuid', '-f', 'json']))}
    hosts = servers(clouds)
    assert held(clouds) == set()
    assert not objections(shop({'resources': SMALL}), {
        path: (each['cloud'], hosts.pop((each['cloud'],
                                         each['instance_uuid'])))
        for path, each in members.items()})
    assert hosts == {}

    # A repeated command creates nothing twice.
    run(boot)
    assert len(servers(clouds)) == 4
    run(rollback)
    assert servers(clouds) == {}
    assert all(cloud.report()['groups'] == [] for cloud in clouds.values())
