# SPDX-License-Identifier: Apache-2.0
"""Time of one select_destinations: stock Nova's, and one looked up.

Real Nova and Placement in one process on SQLite, hosts in Nova's and
Placement's databases without a nova-compute for each. Both kinds of request
ask for one server and for alternates, of a scheduler that has just been
started and has answered once.
"""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import argparse
import statistics
import time
import uuid

from nova import context as nova_context
from nova import objects

from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.server_calls import IMAGE, PROJECT, USER

MEMBERS = 16
FLAVOR = 'small'
GROUP = {
    'name': 'benchmark',
    'policies': [{'type': 'anti-affinity', 'level': 'rack',
                  'max_per_domain': 4}],
    'members': [{'name': 'node', 'flavor': FLAVOR, 'count': MEMBERS}],
}


def main():
    arguments = _parser().parse_args()
    print(f'{"hosts":>6} {"select_destinations":<20} {"requests":>8} '
          f'{"median":>9} {"min":>9} {"max":>9}   [ms]')
    medians = {}
    for number in arguments.hosts:
        for kind, seconds in measure(number, arguments.stock).items():
            medians[number, kind] = statistics.median(seconds)
            _print_row(number, kind, seconds)
    for number in arguments.hosts:
        ratio = medians[number, 'stock'] / medians[number, 'looked up']
        print(f'looked up is {ratio:.0f} x faster at {number} hosts')
    few, many = min(arguments.hosts), max(arguments.hosts)
    ratio = medians[many, 'looked up'] / medians[few, 'looked up']
    print(f'looked up takes {ratio:.2f} x as long at {many} hosts as at {few}')


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+',
                        default=[10, 100, 1000], help='sizes of the cloud')
    parser.add_argument('--stock', type=int, default=3,
                        help='stock requests to time at each size')
    return parser


def _print_row(number, kind, seconds):
    median, least, most = (1000 * value for value in (
        statistics.median(seconds), min(seconds), max(seconds)))
    print(f'{number:>6} {kind:<20} {len(seconds):>8} {median:>9.1f} '
          f'{least:>9.1f} {most:>9.1f}', flush=True)


def measure(number, stock_requests):
    """Seconds of each request, by kind."""
    with EmbeddedCloud(()) as cloud:
        cloud.insert_hosts(_hosts(number))
        cloud.create_flavor(FLAVOR, 2, 2048, 10)
        group = cloud.planner.create(GROUP, project_id=PROJECT, user_id=USER)
        assert group.status == 'planned', group.reasons
        # One more request of each kind fills the scheduler's caches.
        looked_up = [
            _timed(cloud, {'holistic_group': [group.uuid],
                           'holistic_member': [f'node-{index}']})
            for index in range(MEMBERS)]
        cloud.restart_scheduler('stock')
        stock = [_timed(cloud, {}) for _ in range(stock_requests + 1)]
        return {'stock': stock[1:], 'looked up': looked_up[1:]}


def _hosts(number):
    return [EmbeddedHost(f'cmp-{index:04}', zone='az1',
                         rack=f'r{index % max(5, number // 20)}')
            for index in range(number)]


def _timed(cloud, hints):
    """Seconds until the scheduler's manager has answered one request."""
    context = nova_context.RequestContext(USER, PROJECT)
    flavor = objects.Flavor.get_by_name(
        nova_context.get_admin_context(), FLAVOR)
    instance = str(uuid.uuid4())
    spec = objects.RequestSpec.from_components(
        context, instance, {'id': IMAGE, 'properties': {}}, flavor, None,
        None, {'scheduler_hints': hints}, None, None,
        security_groups=objects.SecurityGroupList(objects=[]))
    begin = time.perf_counter()
    answer = cloud.controllers.scheduler.manager.select_destinations(
        context, spec_obj=spec, instance_uuids=[instance],
        return_objects=True, return_alternates=True)
    seconds = time.perf_counter() - begin
    assert len(answer[0]) == cloud.conf.scheduler.max_attempts
    return seconds


if __name__ == '__main__':
    main()
