# SPDX-License-Identifier: Apache-2.0
"""Observance of a time limit for groups and clouds of unusual shapes.

Each run is a separate process. The program prints its resident memory.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
import resource
import time

from clouds import cloud

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Link, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.check import check
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

RACK = AntiAffinity(level='rack')
HOST = AntiAffinity()


def members(name, count=None, vcpus=1, memory=1024):
    return MemberDescription(name, Requirements(resources=FrozenMapping(
        {'VCPU': vcpus, 'MEMORY_MB': memory})), count)


def group(own=(), nested=(), policies=(), relationships=(), name='shop'):
    return Group(name, tuple(own), tuple(nested), tuple(policies),
                 tuple(relationships))


def leaves(number, count, *policies, kinds=1):
    return [group([members('m', count, 1 + n % kinds)], policies=policies,
                  name=f'g{n}') for n in range(number)]


def hosts(number, vcpus=64, memory=262144, kinds=1, **other):
    """In racks of 40 and three zones; ``kinds`` of hardware."""
    return Snapshot(('az', 'rack', 'host'), tuple(Host(
        name=f'h{n:05}', node=f'h{n:05}', uuid='',
        location=(f'az{n // 40 % 3}', f'rack{n // 40:04}'),
        inventories=FrozenMapping({
            'VCPU': Inventory(vcpus + n % kinds, used=n * 37 % vcpus // 2),
            'MEMORY_MB': Inventory(memory + 1024 * (n * 7 % kinds))}),
        **{key: outcome(n) for key, outcome in other.items()})
        for n in range(number)))


def distinct():
    return group([members(f'm{n}', memory=512 + n) for n in range(10_000)],
                 policies=[AntiAffinity(max_per_domain=20)]), hosts(3000)


def billions():
    return group([members(f'm{n}', memory=1 + n) for n in range(2000)],
                 policies=[HOST]), hosts(3000, memory=10**9)


def many_groups():
    return group(nested=leaves(4999, 1, HOST)), hosts(3000)


def many_pairs():
    return group(nested=leaves(4999, 2, HOST)), hosts(3000)


def deep():
    nested = group([members('m', 20)], policies=[HOST], name='leaf')
    for n in range(60):
        nested = group(
            [members('m', 10, 1 + n % 4)], [nested], [
                AntiAffinity(max_per_domain=10),
                AntiAffinity(level='rack', max_per_domain=200)],
            name=f'd{n}')
    return nested, hosts(3000)


def relationships():
    return group(nested=leaves(100, 100), relationships=[
        RelationshipAntiAffinity(between=(
            f'g{n % 100}', f'g{(n + 1 + n // 100) % 100}'))
        for n in range(1000)]), hosts(1000)


def labels():
    names = [f'label{n}' for n in range(40)]
    return group(nested=[
        group([members('m', 20)], name=f'g{n}', policies=[
            Spread(level=name, max_skew=3),
            AntiAffinity(level=name, max_per_domain=4)])
        for n, name in enumerate(names)]), hosts(
            2000, labels=lambda n: FrozenMapping({
                name: f'v{n * (k + 3) % 50}'
                for k, name in enumerate(names)}))


def hardware():
    return group(nested=leaves(10, 100, AntiAffinity(max_per_domain=4),
                               kinds=10), policies=[
        Spread(level='az', max_skew=4)]), hosts(10_000, kinds=300)


def exclusive():
    return group(nested=leaves(200, 10, Exclusive())), hosts(
        3000, servers=lambda n: int(n % 5 == 0))


def bandwidth():
    plain = hosts(2000)
    racks = sorted({each.location for each in plain.hosts})
    return group(nested=leaves(50, 20, HOST), relationships=[
        Bandwidth(level='rack', mbps=10, between=(f'g{n}', f'g{n + 1}'))
        for n in range(49)]), Snapshot(
            plain.levels, plain.hosts,
            tuple(Link(rack, 20_000, 1000) for rack in racks))


def by_a_hair():
    """Two members of 7 fit on each host. The last host has one of them, and
    capacity for only one of the two members of 5."""
    return group([members('a', 1999, 7), members('b', 2, 5)]), Snapshot(
        ('host',), tuple(Host(
            f'h{n}', f'h{n}', '', (), FrozenMapping({
                'VCPU': Inventory(16), 'MEMORY_MB': Inventory(262144)}))
            for n in range(1000)))


def too_many():
    return group(nested=leaves(100, 100, HOST, RACK, kinds=4)), hosts(1000)


def skew():
    return group(nested=leaves(20, 50, Spread(max_skew=10**6), Spread(
        level='rack', max_skew=10**9, min_domains=30))), hosts(3000)


def huge():
    return group(nested=leaves(
        40, 250, AntiAffinity(max_per_domain=4), kinds=4), policies=[
            Spread(level='az', max_skew=4)]), cloud(50_000, 0.75, 0)


SHAPES: dict[str, Callable[[], tuple[Group, Snapshot]]] = {
    each.__name__.replace('_', '-'): each for each in (
        distinct, billions, many_groups, many_pairs, deep, relationships,
        labels, hardware, exclusive, bandwidth, by_a_hair, too_many, skew,
        huge)}


def run(name, limit, objective, processor):
    """Wall-clock and processor seconds, resident MiB, and the result."""
    requested, snapshot = SHAPES[name]()
    # A process searches for plug-ins only once; an engine has loaded them.
    aim, _ = load_objective(objective), load_backend('highs')
    busy, started = time.process_time(), time.perf_counter()
    answer = solve(
        requested, snapshot, objective=aim,
        settings=Settings(
            time_limit=limit,
            timer=time.process_time if processor else time.perf_counter))
    seconds = time.perf_counter() - started
    busy = time.process_time() - busy
    outcome = type(answer).__name__.lower()
    if isinstance(answer, Plan):
        if check(requested, snapshot, answer.hosts()):
            raise SystemExit(f'a bad plan of {name}')
        outcome = f'planned, gap {100 * answer.objective.gap:.1f} %'
    elif isinstance(answer, Unplaceable) and answer.minimal:
        outcome += ', minimal'
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return seconds, busy, resident, outcome


def main():
    arguments = _parser().parse_args()
    print(f'{"shape":<14}{"limit":>6}{"seconds":>9}{"CPU s":>7}'
          f'{"MiB":>6}  answer')
    fresh = multiprocessing.get_context('spawn')
    for name in arguments.shape:
        for limit in arguments.limit:
            with ProcessPoolExecutor(1, mp_context=fresh) as pool:
                seconds, busy, resident, outcome = pool.submit(
                    run, name, limit, arguments.objective,
                    arguments.processor).result()
            spent = busy if arguments.processor else seconds
            late = '  late' if spent > max(1.1 * limit, limit + 0.2) else ''
            print(f'{name:<14}{limit:>6g}{seconds:>9.2f}{busy:>7.2f}'
                  f'{resident:>6.0f}  {outcome}{late}', flush=True)


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--shape', nargs='+', choices=SHAPES,
                        default=list(SHAPES))
    parser.add_argument('--limit', type=float, nargs='+',
                        default=[1, 3, 10])
    parser.add_argument('--objective', default='spread')
    parser.add_argument('--processor', action='store_true',
                        help='limit processor time instead, on a machine '
                             'that does other work')
    return parser


if __name__ == '__main__':
    main()
