# SPDX-License-Identifier: Apache-2.0
"""Time of select_destinations if many threads of one scheduler call it.

Real Nova and Placement in one process on SQLite, as select_destinations.py.
First, each member of one group is looked up by a different server. All
requests point at the description, so that the threads compete for the same
rows. Afterwards the placement table and Placement are compared with the
answers: no member has two servers, no server has two members, and every server
has its allocation on the host of its answer. Then a stock scheduler answers
requests without a pointer, from the same number of threads.
"""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import argparse
from collections import Counter
from concurrent import futures
import math
import time
import uuid

from nova import context as nova_context
from nova import objects

from nova_holistic.embedded.calls.servers import IMAGE, PROJECT, USER
from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import MemberState

FLAVOR = 'tiny'
WARM = 1
"""Requests before the clock runs: they fill the scheduler's caches."""


def main():
    arguments = _parser().parse_args()
    with EmbeddedCloud(()) as cloud:
        cloud.insert_hosts([
            EmbeddedHost(f'cmp-{index:04}', zone='az1',
                         rack=f'r{index % max(5, arguments.hosts // 20)}')
            for index in range(arguments.hosts)])
        cloud.create_flavor(FLAVOR, 1, 512, 1)
        looked_up = look_up(cloud, arguments)
        cloud.restart_scheduler('stock')
        ask = _asker(cloud)
        for _ in range(WARM):
            ask({})
        stock = _in_parallel(
            arguments.threads, ask, [{}] * arguments.stock)
    print(f'{"answer":<10} {"hosts":>5} {"threads":>7} {"requests":>8} '
          f'{"a second":>8} {"p50 ms":>8} {"p95 ms":>8} {"p99 ms":>8}')
    for kind, (answers, total) in (('looked up', looked_up),
                                   ('stock', stock)):
        times = sorted(seconds for _, _, seconds in answers)
        print(f'{kind:<10} {arguments.hosts:>5} {arguments.threads:>7} '
              f'{len(times):>8} {len(times) / total:>8.1f} ' + ' '.join(
                  f'{1000 * percentile(times, share):>8.0f}'
                  for share in (0.50, 0.95, 0.99)))


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=200)
    parser.add_argument('--members', type=int, default=1000)
    parser.add_argument('--threads', type=int, default=16)
    parser.add_argument('--stock', type=int, default=200,
                        help='requests without a pointer')
    return parser


def look_up(cloud, arguments):
    """Look every member up; the answers, and seconds for all of them."""
    record = cloud.planner.create(
        {'name': 'benchmark', 'policies': [
            {'type': 'anti-affinity', 'level': 'rack',
             'max_per_domain': '50%'}],
         'members': [{'name': 'node', 'flavor': FLAVOR,
                      'count': arguments.members + WARM}]},
        project_id=PROJECT, user_id=USER)
    assert record.status == 'planned', record.reasons
    hints = {'holistic_group': [record.uuid], 'holistic_member': ['node']}
    ask = _asker(cloud)
    warm = [ask(hints) for _ in range(WARM)]
    answers = _in_parallel(arguments.threads, ask, [hints] * arguments.members)
    check(cloud, record.uuid, [*warm, *answers[0]])
    return answers


def check(cloud, group, answers):
    """Answers, table and Placement agree.

    :raises AssertionError: an update was lost, or a member has two servers
    """
    hosts = {instance: host for instance, host, _ in answers}
    rows = cloud.table.members(group)
    assert len(hosts) == len(answers) == len(rows)
    assert {row.instance_uuid: row.place.host for row in rows} == hosts
    assert {(row.state, row.held) for row in rows} == {
        (MemberState.CLAIMED, False)}
    count = Counter(hosts.values())
    for host in count:
        assert cloud.consumers(host).keys() == {
            instance for instance, planned_host in hosts.items()
            if planned_host == host}
    print(f'{len(hosts)} servers have one member each, and their allocations '
          f'where they were planned')


def _in_parallel(threads, ask, requests):
    with futures.ThreadPoolExecutor(threads) as pool:
        begin = time.perf_counter()
        answers = list(pool.map(ask, requests))
        return answers, time.perf_counter() - begin


def _asker(cloud):
    flavor = objects.Flavor.get_by_name(
        nova_context.get_admin_context(), FLAVOR)
    manager = cloud.controllers.scheduler.manager

    def ask(hints):
        """Instance, host, and seconds until the manager has answered."""
        context = nova_context.RequestContext(USER, PROJECT)
        instance = str(uuid.uuid4())
        spec = objects.RequestSpec.from_components(
            context, instance, {'id': IMAGE, 'properties': {}}, flavor, None,
            None, {'scheduler_hints': hints}, None, None,
            security_groups=objects.SecurityGroupList(objects=[]))
        begin = time.perf_counter()
        ((first, *_),) = manager.select_destinations(
            context, spec_obj=spec, instance_uuids=[instance],
            return_objects=True, return_alternates=True)
        return instance, first.service_host, time.perf_counter() - begin

    return ask


def percentile(times, share):
    """The smallest value that the share of all values does not exceed.

    :param times: sorted
    """
    return times[math.ceil(share * len(times)) - 1]


if __name__ == '__main__':
    main()
