# SPDX-License-Identifier: Apache-2.0
"""A parent over 1, 10 and 100 clouds of 10,000 hosts each.

The clouds are in memory in two processes, and the parent reaches them over
HTTP. The table has the cost of one group without optimisation, and with each
of them alone. A second table has the share of groups that are placed,
compared with one planner that sees all hosts of all clouds.
"""

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
import contextlib
from dataclasses import dataclass, replace
from datetime import datetime, timezone
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from keystoneauth1 import adapter, noauth, session  # noqa: E402

from benchmarks import federation_clouds  # noqa: E402
from nova_holistic.federation.facts.facts import Facts  # noqa: E402
from nova_holistic.federation.http.exchange import Exchange  # noqa: E402
from nova_holistic.federation.http.traffic import (  # noqa: E402
    HttpLimits, Traffic)
from nova_holistic.federation.http_child import HttpChild  # noqa: E402
from nova_holistic.federation.offers.dependencies import (  # noqa: E402
    Dependencies)
from nova_holistic.federation.offers.history import History  # noqa: E402
from nova_holistic.federation.offers.strategy import (  # noqa: E402
    BRUTE_FORCE, Strategy)
from nova_holistic.federation.planner import (  # noqa: E402
    FederatedPlanner, Limits)
from nova_holistic.federation.results import (  # noqa: E402
    Candidate, Placed, Request)
from nova_holistic.policies import load_policy_types  # noqa: E402
from nova_holistic.solver.milp.backend import load_backend  # noqa: E402

PROCESSES = 2
AT_ONCE = 32
"""Requests of the parent at the same time."""
STRATEGIES = {
    'brute force': BRUTE_FORCE,
    'pruning': Strategy(pruning=True),
    'top 3': Strategy(top=3),
    'threshold': Strategy(threshold=True),
    'likely first': Strategy(likely_first=True),
    'good enough': Strategy(good_enough=0.0),
    'all': Strategy(pruning=True, top=3, threshold=True, likely_first=True,
                    good_enough=0.0)}


def _members(name, count, vcpus, **group):
    return {'name': name, **group, 'members': [{
        'name': 'node', 'count': count,
        'resources': {'VCPU': vcpus, 'MEMORY_MB': vcpus * 2048}}]}


def documents(number):
    """Groups in turn: any cloud can take the first sort, few the second, and
    the third must be in two clouds."""
    web = _members('web', 8, 4, policies=[
        {'type': 'anti-affinity', 'level': 'rack', 'weight': 1}])
    database = _members('db', 3, 8, policies=[{'type': 'anti-affinity'}])
    governed = _members('data', 4, 8, policies=[
        {'type': 'traits', 'required': [federation_clouds.TRAIT]}])
    apart = {'type': 'spread', 'level': 'cloud', 'min_domains': 2}
    sorts = [
        {'groups': [web, database]},
        {'groups': [web, governed]},
        {'groups': [{**web, 'policies': [apart]}, database]}]
    return [{'name': f'group-{n}', **sorts[n % 3]} for n in range(number)]


@contextlib.contextmanager
def running_clouds(number, hosts, full) -> Iterator[dict[str, str]]:
    """Name to URL of clouds in other processes."""
    share = -(-number // PROCESSES)
    processes, urls = [], {}
    try:
        for first in range(0, number, share):
            count = min(share, number - first)
            processes.append(subprocess.Popen(
                [sys.executable, '-m', 'benchmarks.federation_clouds',
                 str(first), str(count), str(hosts), str(full)],
                cwd=ROOT, stdout=subprocess.PIPE, text=True,
                env={**os.environ, 'PYTHONPATH': str(ROOT)}))
        for process, first in zip(processes, range(0, number, share)):
            port = int(process.stdout.readline())
            urls.update({
                f'c{n}': f'http://127.0.0.1:{port}/c{n}'
                for n in range(first, min(first + share, number))})
        yield urls
    finally:
        for process in processes:
            process.terminate()
            process.wait()


class Journal:
    def write(self, part):
        """The parts are not kept."""


@dataclass
class Cost:
    """Totals of all groups of one strategy.

    :ivar rounds: requests one after the other: requests that the parent sends
        at the same time count once
    """

    groups: int = 0
    placed: int = 0
    requests: int = 0
    megabytes: float = 0.0
    parent_seconds: float = 0.0
    cloud_seconds: float = 0.0
    rounds: int = 0


class Parent:
    """A parent over clouds at URLs."""

    def __init__(self, urls, strategy, pool):
        self.rounds = 0
        one = session.Session(noauth.NoAuth())
        limits = HttpLimits(seconds=600.0, per_second=1e6, at_once=AT_ONCE)
        self.urls = urls
        self._pool = pool
        self.children = {
            name: HttpChild(name, Exchange(
                name, adapter.Adapter(one, endpoint_override=url),
                Traffic(limits, time.monotonic, time.sleep), 'user'), _now,
                600.0) for name, url in urls.items()}
        self._planner = FederatedPlanner(
            [Candidate(child, facts=_facts(int(name[1:])))
             for name, child in self.children.items()], strategy,
            Limits(offer_seconds=600.0), Dependencies(
                load_policy_types(), load_backend('highs'), History(), _now,
                time.monotonic, time.sleep, self._map_all))

    def place(self, document, key):
        return self._planner.place(
            Request(document, None, 3600, key, 3600.0), Journal())

    def delete(self, placed):
        for part in placed.parts:
            self.children[part.child].delete(part.group.uuid)

    def traffic(self):
        """Requests and bytes so far."""
        counters = [child.exchange.traffic.counters
                    for child in self.children.values()]
        return (sum(c.requests for c in counters),
                sum(c.bytes_sent + c.bytes_received for c in counters))

    def cloud_seconds(self):
        seconds = 0.0
        for url in self.urls.values():
            with urllib.request.urlopen(url + '/statistics') as answer:
                seconds += json.load(answer)['seconds']
        return seconds

    def _map_all(self, work, items):
        items = list(items)
        self.rounds += -(-len(items) // AT_ONCE)
        return list(self._pool.map(work, items))


def _now():
    return datetime.now(timezone.utc).replace(tzinfo=None)


def _facts(number):
    return Facts(
        traits=frozenset({federation_clouds.TRAIT} if number % 5 == 0
                         else ()),
        largest={'VCPU': federation_clouds.VCPUS,
                 'MEMORY_MB': federation_clouds.MEMORY_MB})


def measure(urls, strategy, groups, keep=False):
    """The cost of placing the groups one after another.

    :param keep: whether placed groups remain
    """
    cost, placed_groups = Cost(groups=len(groups)), []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        parent = Parent(urls, strategy, pool)
        before = parent.cloud_seconds()
        started = time.process_time()
        for number, document in enumerate(groups):
            result = parent.place(document, f'{id(parent)}-{number}')
            if isinstance(result, Placed):
                placed_groups.append(result)
                cost.rounds += 2 * len(result.parts)
        cost.parent_seconds = time.process_time() - started
        cost.placed = len(placed_groups)
        cost.requests, size = parent.traffic()
        cost.megabytes = size / 1e6
        cost.rounds += parent.rounds
        cost.cloud_seconds = parent.cloud_seconds() - before
        if not keep:
            for each in placed_groups:
                parent.delete(each)
    return cost


def calculated(small, large, sizes, size):
    """The cost for a number of clouds, on the line through two measured
    costs per group.

    :param sizes: numbers of clouds of the two
    """
    def line(name):
        first, second = (getattr(cost, name) / cost.groups
                         for cost in (small, large))
        slope = (second - first) / (sizes[1] - sizes[0])
        return second + slope * (size - sizes[1])
    return Cost(1, large.placed // large.groups, *(line(name) for name in (
        'requests', 'megabytes', 'parent_seconds', 'cloud_seconds',
        'rounds')))


def print_costs(size, name, cost, note=''):
    print(f'{size:<6} {name:<13} {cost.requests / cost.groups:>8.1f} '
          f'{1000 * cost.megabytes / cost.groups:>9.1f} '
          f'{cost.rounds / cost.groups:>7.1f} '
          f'{cost.parent_seconds / cost.groups:>8.2f} '
          f'{cost.cloud_seconds / cost.groups:>8.2f} {note}', flush=True)


def shares(number, hosts, full, groups, strategies=('brute force', 'all')):
    """How many groups the parent and one planner over all hosts place.

    :returns: placed by each strategy, by the one planner, and of how many
    """
    from benchmarks.simulated_cloud import SimulatedCloud
    costs = {}
    for name in strategies:
        with running_clouds(number, hosts, full) as urls:
            costs[name] = measure(
                urls, STRATEGIES[name], groups, keep=True).placed
    together = SimulatedCloud(
        joined(number, hosts, full), load_policy_types(), _now)
    return costs, sum(
        together.create(document)['status'] == 'planned'
        for document in groups), len(groups)


def joined(number, hosts, full):
    """All clouds as one topology, whose outermost level is the cloud."""
    snapshots = {f'c{n}': federation_clouds.snapshot(n, hosts, full)
                 for n in range(number)}
    return replace(
        snapshots['c0'], levels=('cloud', 'rack', 'host'),
        hosts=tuple(replace(host, name=f'{name}-{host.name}',
                            location=(name, *host.location))
                    for name, each in snapshots.items()
                    for host in each.hosts))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--clouds', type=int, nargs='*', default=[1, 10, 100])
    parser.add_argument('--calculate', type=int, default=1000)
    parser.add_argument('--hosts', type=int, default=10_000)
    parser.add_argument('--groups', type=int, default=6)
    parser.add_argument('--strategies', nargs='*', default=[*STRATEGIES],
                        choices=[*STRATEGIES])
    parser.add_argument('--full', type=float, default=0.5)
    parser.add_argument('--share-clouds', type=int, default=10)
    parser.add_argument('--share-hosts', type=int, default=20)
    parser.add_argument('--share-groups', type=int, default=150)
    args = parser.parse_args()
    print('clouds strategy      requests  kilobytes  rounds   parent   '
          'clouds')
    costs = {}
    for number in args.clouds:
        with running_clouds(number, args.hosts, args.full) as urls:
            for name in args.strategies:
                costs[number, name] = measure(
                    urls, STRATEGIES[name], documents(args.groups))
                print_costs(number, name, costs[number, name])
    if len(args.clouds) > 1 and args.calculate:
        for name in args.strategies:
            small, large = args.clouds[-2:]
            print_costs(args.calculate, name, calculated(
                costs[small, name], costs[large, name], (small, large),
                args.calculate), 'calculated')
    if args.share_clouds:
        placed, together, total = shares(
            args.share_clouds, args.share_hosts, args.full,
            documents(args.share_groups))
        print(f'\n{args.share_clouds} clouds of {args.share_hosts} hosts, '
              f'{total} groups: {together} placed by one planner, '
              + ', '.join(f'{number} by {name}'
                          for name, number in placed.items()))


if __name__ == '__main__':
    main()
