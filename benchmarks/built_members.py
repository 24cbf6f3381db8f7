# SPDX-License-Identifier: Apache-2.0
"""The cost of one looked-up create by the number of existing servers of the
group, and by the policies of the group.

Real Nova and Placement in one process on SQLite, hosts in Nova's and
Placement's databases without a nova-compute for each. The size of the group is
the same in each row. Each table row has the statements of the scheduler's own
part, the rows that these read, the calls of Python functions, and the
processor time: see ``answer_parts.py``. With ``--changed``, Nova has changed
each existing server in the last minute.
"""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import argparse
import gc
import statistics
import uuid

from oslo_utils import timeutils
import select_destinations
from select_destinations import FLAVOR
import sqlalchemy as sa

from benchmarks.answer_parts import Parts, RESPONSE
from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.holds.client import HoldClient
from nova_holistic.table.records import MemberState
from tests.functional import nova_records

RACKS = 20
POLICIES = {
    'none': [],
    'anti-affinity': [{'type': 'anti-affinity', 'level': 'rack',
                       'max_per_domain': 600}],
    'spread': [{'type': 'spread', 'level': 'rack', 'max_skew': 2}],
}
UNTIMED = 2
"""First responses in a group, which fill caches."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--built', type=int, nargs='+',
                        default=[0, 50, 500, 1000])
    parser.add_argument('--hosts', type=int, default=100)
    parser.add_argument('--creates', type=int, default=20,
                        help='to time; half as many are counted')
    parser.add_argument('--policies', nargs='+', choices=[*POLICIES],
                        default=[*POLICIES])
    parser.add_argument('--changed', action='store_true')
    arguments = parser.parse_args()
    print(f'{"policies":<14} {"built":>6} {"statements":>10} {"rows":>6} '
          f'{"calls":>7} {"least ms":>8} {"median ms":>9}')
    with EmbeddedCloud(()) as cloud:
        cloud.insert_hosts([select_destinations.EmbeddedHost(
            f'cmp-{index:04}', zone='az1', rack=f'r{index % RACKS}',
            vcpus=2**12, memory_mb=2**23, disk_gb=2**17)
            for index in range(arguments.hosts)])
        cloud.create_flavor(FLAVOR, 2, 2048, 10)
        for name in arguments.policies:
            for built in arguments.built:
                _measure(cloud, name, built, arguments)


def _measure(cloud, name, built, arguments):
    creates = UNTIMED + arguments.creates + arguments.creates // 2
    group = cloud.planner.create(
        {'name': 'benchmark', 'policies': POLICIES[name], 'members': [{
            'name': 'node', 'flavor': FLAVOR,
            'count': max(arguments.built) + creates}]},
        project_id=PROJECT, user_id=USER)
    assert group.status == 'planned', group.reasons
    _build(cloud, group.uuid, built, creates, arguments.changed)
    parts, rows = Parts(RESPONSE), []
    gc.collect()
    for index in range(creates):
        answer = select_destinations._request(cloud, {
            'holistic_group': [group.uuid],
            'holistic_member': [f'node-{index}']})
        if index < UNTIMED:
            answer()
        elif index < UNTIMED + arguments.creates:
            parts.time(answer)
        elif index % 2:
            parts.count(answer)
        else:
            rows.append(_rows(answer))
    least, median = (1000 * number for number in (
        min(parts.own), statistics.median(parts.own)))
    print(f'{name:<14} {built:>6} {statistics.median(parts.statements):>10} '
          f'{statistics.median(rows):>6} {statistics.median(parts.calls):>7} '
          f'{least:>8.2f} {median:>9.2f}', flush=True)
    cloud.table.delete_group(group.uuid)


def _build(cloud, group, number, first, changed):
    """Servers of members, as Nova's databases contain them."""
    servers = [cloud.table.claim(
        group, f'node-{first + index}', str(uuid.uuid4()),
        timeutils.utcnow()) for index in range(number)]
    if not servers:
        return
    nova_records.exist(cloud, servers, updated_at=(
        timeutils.utcnow() if changed else nova_records.LONG_AGO))
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
