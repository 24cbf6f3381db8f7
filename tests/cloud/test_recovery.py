# SPDX-License-Identifier: Apache-2.0
"""No group is lost if an engine is killed and the broker restarted during its
work."""

from collections import Counter
from concurrent import futures
from datetime import timedelta
import json
import signal
import time

from oslo_utils import timeutils
import pytest
import sqlalchemy as sa

from nova_holistic.client.client import Client
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.store import PlacementTable
from tests.cloud.groups import LiveGroup
from tests.cloud.usage_accounts import expected, UsageAccounts
from tools.cloud.holistic import ENGINES
from tools.cloud.waiting import wait_for

CLIENTS = 4
MEMBERS = 3
LONG = timedelta(hours=1)
"""Age of a heartbeat whose engine counts as failed."""
LAST_REQUEST = 3.0
"""Seconds within which Placement carries out a request."""
TINY = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}


@pytest.fixture
def create(openstack, tmp_path):
    """A function that requests some of the groups, and does not wait for their
    plans."""
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
def table(cloud):
    """The placement table of all engines."""
    table = PlacementTable(cloud.layout.database('holistic'))
    yield table
    table.database.close()


def tasks(table, name):
    """The UUIDs of groups on which an engine works, each with the identifier
    of the engine."""
    with table.database.reader() as session:
        return dict(session.execute(sa.select(
            GroupRow.uuid, GroupRow.engine).where(
                GroupRow.task.is_not(None),
                GroupRow.engine.startswith(f'{name}:'))).tuples().all())


def restart_broker(cloud, table, creates):
    """Restart the broker while clients create groups and engines plan them. No
    group remains with a killed engine."""
    wait_for('a plan', lambda: any(tasks(table, name) for name in ENGINES),
             pause=0.01)
    cloud.processes.kill('rabbitmq')
    assert not all(share.done() for share in creates)
    cloud.start('rabbitmq')
    return set()


def kill_engine(cloud, table, creates):
    """Kill an engine during a plan. It is stopped first, so that it cannot
    finish. Returns the groups on which it worked."""
    def caught():
        if not tasks(table, victim):
            return False
        cloud.processes.send(victim, signal.SIGSTOP)
        if tasks(table, victim):
            return True
        cloud.processes.send(victim, signal.SIGCONT)
        return False

    victim = ENGINES[0]
    wait_for(f'a plan of {victim}', caught, pause=0.01)
    cloud.processes.kill(victim)
    left = tasks(table, victim)
    assert left
    # Placement may still carry out the last request of the killed engine. In
    # practice, it has ended long before the heartbeat is old.
    time.sleep(LAST_REQUEST)
    # Otherwise the other engine would wait until the heartbeat is old.
    for group, engine in left.items():
        table.tasks.write_heartbeat([group], engine, timeutils.utcnow() - LONG)
    return set(left)


@pytest.mark.parametrize('fail', [kill_engine, restart_broker])
def test_no_group_is_lost(cloud, fail, create, table, demo, admin, size):
    client = Client(demo)
    with futures.ThreadPoolExecutor(CLIENTS) as pool:
        creates = [pool.submit(create, range(number, size.lasting, CLIENTS))
                   for number in range(CLIENTS)]
        left = fail(cloud, table, creates)
        groups = [group for share in creates for group in share.result()]
    assert left <= {group['id'] for group in groups}
    settled = [client.groups.wait(group['id']) for group in groups]
    assert Counter(group['status'] for group in settled) == {
        'planned': size.lasting}
    places = [place for group in settled for place in LiveGroup(
        Client(admin), group).placements().values()]
    assert {place['state'] for place in places} == {'planned'}
    assert len(places) == size.lasting * MEMBERS
    assert UsageAccounts(admin).used() == expected(
        [], [(place['host'], TINY) for place in places])
