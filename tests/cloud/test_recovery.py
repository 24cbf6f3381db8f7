# SPDX-License-Identifier: Apache-2.0
"""An engine that dies and a broker that is restarted, in the middle of it:
no group is lost."""

from concurrent import futures
import json

import pytest

from nova_holistic.client.client import Client
from tests.cloud.books import Books, expected
from tests.cloud.groups import LiveGroup
from tools.cloud.holistic import ENGINES
from tools.cloud.waiting import wait_for

GROUPS, CLIENTS = 20, 4
MEMBERS = 3
TINY = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}


@pytest.fixture
def create(openstack, tmp_path):
    """Asks for some of the groups, and does not wait for their plans."""
    def created(numbers):
        files = {number: tmp_path / f'{number}.json' for number in numbers}
        for number, file in files.items():
            file.write_text(json.dumps({'group': {
                'name': f'lasting-{number}',
                'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
                'members': [{'name': 'node', 'count': MEMBERS,
                             'flavor': 'tiny'}]}}))
        return openstack.script([('holistic', 'group', 'create', '-f', file)
                                 for file in files.values()])
    return created


def restart_broker(cloud):
    cloud.processes.kill('rabbitmq')
    cloud.start('rabbitmq')


def kill_engine(cloud):
    cloud.processes.kill(ENGINES[0])


@pytest.mark.parametrize('fail', [kill_engine, restart_broker])
def test_no_group_is_lost(cloud, fail, create, demo, admin):
    client = Client(demo)
    with futures.ThreadPoolExecutor(CLIENTS) as pool:
        asked = [pool.submit(create, range(number, GROUPS, CLIENTS))
                 for number in range(CLIENTS)]
        wait_for('the first group', lambda: list(client.groups.list()))
        fail(cloud)
        shown = [group for share in asked for group in share.result()]
    settled = [client.groups.wait(group['id']) for group in shown]
    assert [group['status'] for group in settled] == ['planned'] * GROUPS
    places = [place for group in settled for place in LiveGroup(
        Client(admin), group).placements().values()]
    assert {place['state'] for place in places} == {'planned'}
    assert len(places) == GROUPS * MEMBERS
    assert Books(admin).used() == expected(
        [], [(place['host'], TINY) for place in places])
