# SPDX-License-Identifier: Apache-2.0
"""Time of one looked-up create in a group with ``spread``, by the state of
another member of the group, and by the size of the cloud.

Real Nova and Placement in one process on SQLite, hosts in Nova's and
Placement's databases without a nova-compute for each, as in
``select_destinations.py``. ``cold`` is the first create after a host has
changed: the scheduler reads all hosts again. ``start`` is the first create
after the start of a scheduler, which has no connections and no hosts yet.

The embedded scheduler runs no periodic task. Therefore, the benchmark
refreshes the hosts before each create, and measures this separately
(``refresh``). With ``--interval 0``, each create compares the hosts itself.
"""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import argparse
import statistics
import time
import uuid

import nova.conf
from nova import context as nova_context
from nova.db.main import api as main_database
from nova.db.main import models
from oslo_utils import timeutils
import select_destinations
import sqlalchemy as sa

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.scheduler import connections
from nova_holistic.scheduler.hosts import all_hosts
from nova_holistic.table.records import MemberState

RACKS = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+', default=[100, 5000])
    parser.add_argument('--creates', type=int, default=10,
                        help='creates to time in each state')
    parser.add_argument('--states', nargs='+', choices=[*STATES],
                        default=[*STATES])
    parser.add_argument('--interval', type=int, default=10,
                        help='[holistic] host_refresh_interval')
    arguments = parser.parse_args()
    print(f'{"hosts":>6} {"state":<16} {"times":>6} {"median":>9} '
          f'{"min":>9} {"max":>9}   [ms]')
    for number in arguments.hosts:
        with EmbeddedCloud(()) as cloud:
            nova.conf.CONF.set_override(
                'host_refresh_interval', arguments.interval, group='holistic')
            cloud.insert_hosts(_hosts(number))
            cloud.create_flavor(select_destinations.FLAVOR, 2, 2048, 10)
            for state in arguments.states:
                creates, refreshes = _measure(cloud, state, arguments.creates)
                _print_row(number, state, creates)
                if arguments.interval:
                    _print_row(number, f'{state} refresh', refreshes)


def _print_row(number, state, seconds):
    median, least, most = (1000 * value for value in (
        statistics.median(seconds), min(seconds), max(seconds)))
    print(f'{number:>6} {state:<16} {len(seconds):>6} {median:>9.1f} '
          f'{least:>9.1f} {most:>9.1f}', flush=True)


def _hosts(number):
    return [select_destinations.EmbeddedHost(
        f'cmp-{index:04}', zone='az1', rack=f'r{index % RACKS}', vcpus=256,
        memory_mb=2**20, disk_gb=2**14) for index in range(number)]


def _measure(cloud, state, creates):
    """Seconds of each create but the first, and of the refresh before it."""
    group = cloud.planner.create({
        'name': 'benchmark',
        'policies': [{'type': 'spread', 'level': 'rack', 'max_skew': 2}],
        'members': [{'name': 'node', 'flavor': select_destinations.FLAVOR,
                     'count': creates + 2}]},
        project_id=PROJECT, user_id=USER)
    assert group.status == 'planned', group.reasons
    STATES[state](cloud, group.uuid, f'node-{creates + 1}')
    return tuple(zip(*[
        _timed(cloud, group.uuid, index, state)
        for index in range(creates + 1)][1:]))


def _timed(cloud, group, index, state):
    """Seconds of the create and of the refresh."""
    if state == 'cold':
        _change_a_host(cloud, index)
    if state == 'start':
        connections.reset()
    started = time.perf_counter()
    if nova.conf.CONF.holistic.host_refresh_interval:
        all_hosts.refresh(connections.get())
    refreshed = time.perf_counter() - started
    return select_destinations._timed(cloud, {
        'holistic_group': [group],
        'holistic_member': [f'node-{index}']}), refreshed


def _change_a_host(cloud, index):
    @main_database.pick_context_manager_writer
    def change(context):
        context.session.execute(
            sa.update(models.Service)
            .where(models.Service.host == 'cmp-0000')
            .values(disabled=index % 2 == 0))

    with nova_context.target_cell(nova_context.get_admin_context(),
                                  cloud.computes.cell) as context:
        change(context)


def _planned(cloud, group, path):
    """The members are as they were planned."""


def _released(cloud, group, path):
    cloud.table.release([_row(cloud, group, path).hold], timeutils.utcnow())


def _lost(cloud, group, path):
    row = _row(cloud, group, path)
    cloud.table.change_state(row.id, [MemberState.PLANNED], MemberState.LOST,
                             timeutils.utcnow(), held=False)


def _failed(cloud, group, path):
    row = cloud.table.claim(
        group, path, str(uuid.uuid4()), timeutils.utcnow())
    cloud.table.change_state(row.id, [MemberState.CLAIMED],
                             MemberState.FAILED, timeutils.utcnow())


def _row(cloud, group, path):
    return next(row for row in cloud.table.members(group)
                if row.member.path == path)


STATES = {'planned': _planned, 'released': _released, 'lost': _lost,
          'failed': _failed, 'cold': _lost, 'start': _lost}


if __name__ == '__main__':
    main()
