# SPDX-License-Identifier: Apache-2.0
"""The cost of one looked-up create by the size of the group, by the state of
its other members, and by the policies of the group.

Real Nova and Placement in one process on SQLite, hosts in Nova's and
Placement's databases without a nova-compute for each. The other members are
planned, or have servers (built), or half of them have servers, one of which is
on another host than planned, and one member is released, one is lost and one
has failed (mixed). Each table row has the statements of the scheduler's own
part, the rows that these read, the calls of Python functions, and the
processor time: see ``answer_parts.py``. With ``--changed``, Nova has changed
each existing server in the last minute. With ``--profile``, the calls of each
function are printed instead.

The embedded scheduler runs no periodic task. Therefore, the benchmark
refreshes the hosts before each create, outside of its time. With ``--interval
0``, each create that needs all hosts compares them itself.
"""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import argparse
import cProfile
import gc
import pstats
import statistics
import uuid

import nova.conf
from oslo_utils import timeutils
import select_destinations
from select_destinations import FLAVOR
import sqlalchemy as sa

from benchmarks.answer_parts import Parts, RESPONSE
from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.holds.client import HoldClient
from nova_holistic.scheduler import connections
from nova_holistic.scheduler.hosts import all_hosts
from nova_holistic.table.records import MemberState
from tests.functional import nova_records

RACKS = 20
POLICIES = {
    'none': [],
    'anti-affinity': [{'type': 'anti-affinity', 'level': 'rack',
                       'max_per_domain': 600}],
    'spread': [{'type': 'spread', 'level': 'rack', 'max_skew': 2}],
    'exclusive': [{'type': 'exclusive', 'level': 'host'}],
}
STATES = 'planned', 'built', 'mixed'
UNTIMED = 2
"""First responses in a group, which fill caches."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--others', type=int, nargs='+',
                        default=[10, 100, 1000])
    parser.add_argument('--states', nargs='+', choices=STATES,
                        default=STATES)
    parser.add_argument('--hosts', type=int, default=100)
    parser.add_argument('--creates', type=int, default=20,
                        help='creates to time; half as many are counted')
    parser.add_argument('--policies', nargs='+', choices=[*POLICIES],
                        default=[*POLICIES])
    parser.add_argument('--changed', action='store_true',
                        help='Nova has changed each existing server in the '
                             'last minute')
    parser.add_argument('--profile', action='store_true',
                        help='print the calls of each function instead')
    parser.add_argument('--interval', type=int, default=10,
                        help='[holistic] host_refresh_interval')
    arguments = parser.parse_args()
    print(f'{"policies":<14} {"others":>6} {"state":<8} {"statements":>10} '
          f'{"rows":>6} {"calls":>7} {"least ms":>8} {"median ms":>9}')
    with EmbeddedCloud(()) as cloud:
        nova.conf.CONF.set_override(
            'host_refresh_interval', arguments.interval, group='holistic')
        cloud.hosts = tuple(select_destinations.EmbeddedHost(
            f'cmp-{index:04}', zone='az1', rack=f'r{index % RACKS}',
            vcpus=2**12, memory_mb=2**23, disk_gb=2**17)
            for index in range(arguments.hosts))
        cloud.insert_hosts(cloud.hosts)
        cloud.create_flavor(FLAVOR, 2, 2048, 10)
        for name in arguments.policies:
            for state in arguments.states:
                for others in arguments.others:
                    _measure(cloud, name, others, state, arguments)


def _measure(cloud, name, others, state, arguments):
    creates = UNTIMED + arguments.creates + arguments.creates // 2
    group = cloud.planner.create(
        {'name': 'benchmark', 'policies': POLICIES[name], 'members': [{
            'name': 'node', 'flavor': FLAVOR, 'count': others + creates}]},
        project_id=PROJECT, user_id=USER)
    assert group.status == 'planned', group.reasons
    _change(cloud, group.uuid, [f'node-{creates + number}' for number
                                in range(others)], state, arguments.changed)
    parts, rows = Parts(RESPONSE), []
    profile = cProfile.Profile()
    gc.collect()
    for index in range(creates):
        answer = select_destinations._request(cloud, {
            'holistic_group': [group.uuid],
            'holistic_member': [f'node-{index}']})
        if arguments.interval:
            all_hosts.refresh(connections.get())
        if index < UNTIMED:
            answer()
        elif index < UNTIMED + arguments.creates:
            if arguments.profile:
                profile.runcall(answer)
            else:
                parts.time(answer)
        elif index % 2:
            parts.count(answer)
        else:
            rows.append(_rows(answer))
    if arguments.profile:
        pstats.Stats(profile).sort_stats('cumulative').print_stats(90)
        _clear(cloud, group.uuid)
        return
    least, median = (1000 * number for number in (
        min(parts.own), statistics.median(parts.own)))
    print(f'{name:<14} {others:>6} {state:<8} '
          f'{statistics.median(parts.statements):>10} '
          f'{statistics.median(rows):>6} {statistics.median(parts.calls):>7} '
          f'{least:>8.2f} {median:>9.2f}', flush=True)
    _clear(cloud, group.uuid)


def _clear(cloud, group):
    """Delete a group, its servers and their allocations."""
    holds = [row.hold for row in cloud.table.members(group)]
    cloud.table.delete_group(group)
    connections.get().holds.drop(holds)
    nova_records.forget_servers(cloud)
    for host in cloud.hosts:
        for consumer in cloud.consumers(host.name):
            cloud.delete_consumer(consumer)


def _change(cloud, group, paths, state, changed):
    """Put the members at these paths into a state."""
    if state == 'planned':
        return
    lost = released = failed = ()
    if state == 'mixed':
        lost, released, failed, *paths = paths
        paths = paths[::2]
        for path, to in (lost, MemberState.LOST), (failed, MemberState.FAILED):
            row = cloud.table.claim(
                group, path, str(uuid.uuid4()), timeutils.utcnow())
            assert cloud.table.change_state(
                row.id, [row.state], to, timeutils.utcnow())
        (hold,) = [row.hold for row in cloud.table.members(group)
                   if row.member.path == released]
        cloud.table.release([hold], timeutils.utcnow())
    servers = [cloud.table.claim(group, path, str(uuid.uuid4()),
                                 timeutils.utcnow()) for path in paths]
    nova_records.exist(cloud, servers, updated_at=(
        timeutils.utcnow() if changed else nova_records.LONG_AGO))
    if state == 'mixed':
        moved = servers[0]
        nova_records.write_server(
            cloud, moved, nova_records.LONG_AGO, host=next(
                host.name for host in cloud.hosts
                if host.name != moved.place.host))
    for row in servers:
        assert cloud.table.change_state(
            row.id, [row.state], MemberState.BUILT, timeutils.utcnow())


def _rows(answer):
    """Number of rows that the statements of the own part read."""
    sent, posts = [], []
    swap = HoldClient.swap

    def listen(connection, _cursor, text, parameters, *_):
        if text.startswith('SELECT') and not posts:
            sent.append((connection.engine, text, parameters))

    def marked(*args, **kwargs):
        posts.append(True)
        try:
            return swap(*args, **kwargs)
        finally:
            posts.pop()

    sa.event.listen(sa.Engine, 'before_cursor_execute', listen)
    HoldClient.swap = marked
    try:
        answer()
    finally:
        HoldClient.swap = swap
        sa.event.remove(sa.Engine, 'before_cursor_execute', listen)
    return sum(nova_records.number_of_rows(*each) for each in sent)


if __name__ == '__main__':
    main()
