# SPDX-License-Identifier: Apache-2.0
"""An engine that dies and a broker that is restarted, in the middle of it:
no group is lost."""

from concurrent import futures
import json
import signal

import pytest
import sqlalchemy as sa

from nova_holistic.client.client import Client
from nova_holistic.table.models import GroupRow
from nova_holistic.table.store import PlacementTable
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


@pytest.fixture
def tasks(cloud):
    """UUIDs of the groups at which an engine is at work, by its name."""
    table = PlacementTable(cloud.layout.database('holistic'))

    def tasks(name):
        with table.database.reader() as session:
            return set(session.scalars(sa.select(GroupRow.uuid).where(
                GroupRow.task.is_not(None),
                GroupRow.engine.startswith(f'{name}:'))))
    yield tasks
    table.database.close()


def restart_broker(cloud, tasks, asked):
    """While groups are asked for, and planned."""
    wait_for('a plan', lambda: any(map(tasks, ENGINES)), pause=0.01)
    cloud.processes.kill('rabbitmq')
    assert not all(share.done() for share in asked)
    cloud.start('rabbitmq')
    return set()


def kill_engine(cloud, tasks, asked):
    """While it plans, and not a moment after: so it is stopped before."""
    def caught():
        if not tasks(victim):
            return False
        cloud.processes.send(victim, signal.SIGSTOP)
        if tasks(victim):
            return True
        cloud.processes.send(victim, signal.SIGCONT)
        return False

    victim = ENGINES[0]
    wait_for(f'a plan of {victim}', caught, pause=0.01)
    cloud.processes.kill(victim)
    left = tasks(victim)
    assert left
    return left


@pytest.mark.parametrize('fail', [kill_engine, restart_broker])
def test_no_group_is_lost(cloud, fail, create, tasks, demo, admin):
    client = Client(demo)
    with futures.ThreadPoolExecutor(CLIENTS) as pool:
        asked = [pool.submit(create, range(number, GROUPS, CLIENTS))
                 for number in range(CLIENTS)]
        left = fail(cloud, tasks, asked)
        shown = [group for share in asked for group in share.result()]
    assert left <= {group['id'] for group in shown}
    settled = [client.groups.wait(group['id']) for group in shown]
    assert [group['status'] for group in settled] == ['planned'] * GROUPS
    places = [place for group in settled for place in LiveGroup(
        Client(admin), group).placements().values()]
    assert {place['state'] for place in places} == {'planned'}
    assert len(places) == GROUPS * MEMBERS
    assert Books(admin).used() == expected(
        [], [(place['host'], TINY) for place in places])
