# SPDX-License-Identifier: Apache-2.0
"""Processor time, value and bound of plans for small groups on large clouds.

The groups have 1 to 30 members, with each policy at several levels, as a
requirement and as a preference. Each group is solved several times in one
process, as in an engine, and the table shows the minimum and the median.
"""

import argparse
import cProfile
import dataclasses
import functools
import itertools
import json
import pstats
import statistics
import time

from clouds import cloud, FLAVORS

from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

WEIGHT = 3.0

PHASES = ('_insert_members', 'plan_on_chosen_hosts', 'first_plan',
          'has_fewest_hosts', 'propagated', 'search_all_hosts', 'relax',
          'improve', 'large', 'bound_diverse')
"""Functions of the solver whose share of the time is printed."""


def members(number, flavors=('medium',)):
    """Members of the flavors in turn."""
    each = [f for f, _ in zip(itertools.cycle(flavors), range(number))]
    return tuple(MemberDescription(
        flavor, Requirements(flavor=flavor), each.count(flavor))
        for flavor in flavors if flavor in each)


def flat(number, *policies, flavors=('medium',)):
    """One group with these policies."""
    return Group('small', members(number, flavors), (), policies)


def halves(number, *relationships, inside=(), policies=()):
    """Two groups with relationships between them."""
    return Group('small', (), (
        Group('a', members(number - number // 2), (), inside),
        Group('b', members(number // 2, ('large',)), (), inside)),
        policies, relationships)


BETWEEN = {'between': ('a', 'b')}
SHAPES = {
    'plain': lambda n: flat(n),
    'mixed-flavors': lambda n: flat(n, flavors=tuple(FLAVORS)),
    'affinity-host': lambda n: flat(n, Affinity(level='host')),
    'affinity-rack': lambda n: flat(n, Affinity(level='rack')),
    'affinity-az': lambda n: flat(n, Affinity(level='az')),
    'anti-host': lambda n: flat(n, AntiAffinity(level='host')),
    'anti-rack': lambda n: flat(n, AntiAffinity(level='rack')),
    'spread-host': lambda n: flat(n, Spread(level='host', max_skew=1)),
    'spread-rack': lambda n: flat(n, Spread(level='rack', max_skew=1)),
    'spread-az': lambda n: flat(n, Spread(level='az', max_skew=1)),
    'exclusive': lambda n: flat(n, Exclusive()),
    'rack-spread': lambda n: flat(
        n, Affinity(level='rack'), Spread(level='host', max_skew=1)),
    'rack-anti': lambda n: flat(
        n, Affinity(level='rack'), AntiAffinity(level='host')),
    'az-anti-rack': lambda n: flat(
        n, Affinity(level='az'), AntiAffinity(level='rack')),
    'spread-az-anti': lambda n: flat(
        n, Spread(level='az', max_skew=1), AntiAffinity(level='host')),
    'soft-affinity-host': lambda n: flat(
        n, Affinity(level='host', weight=WEIGHT)),
    'soft-affinity-rack': lambda n: flat(
        n, Affinity(level='rack', weight=WEIGHT)),
    'soft-anti-host': lambda n: flat(
        n, AntiAffinity(level='host', weight=WEIGHT)),
    'soft-anti-rack': lambda n: flat(
        n, AntiAffinity(level='rack', weight=WEIGHT)),
    'soft-spread-rack': lambda n: flat(
        n, Spread(level='rack', max_skew=1, weight=WEIGHT)),
    'soft-spread-az': lambda n: flat(
        n, Spread(level='az', max_skew=1, weight=WEIGHT)),
    'soft-several': lambda n: flat(
        n, AntiAffinity(level='host', weight=WEIGHT),
        Affinity(level='rack', weight=1.0),
        Spread(level='az', max_skew=1, weight=0.5)),
    'soft-traits': lambda n: flat(
        n, Traits(has=frozenset({'FAST'}), weight=WEIGHT)),
    'soft-traits-anti': lambda n: flat(
        n, Traits(has=frozenset({'FAST'}), weight=WEIGHT),
        AntiAffinity(level='host', weight=1.0)),
    'related-apart': lambda n: halves(
        n, RelationshipAntiAffinity(level='rack', **BETWEEN)),
    'related-near': lambda n: halves(
        n, RelationshipAffinity(level='rack', **BETWEEN),
        inside=(AntiAffinity(level='host'),)),
    'related-soft': lambda n: halves(
        n, RelationshipAffinity(level='rack', weight=WEIGHT, **BETWEEN),
        inside=(AntiAffinity(level='host'),)),
    'traffic': lambda n: halves(
        n, Bandwidth(level='rack', mbps=10, **BETWEEN),
        inside=(AntiAffinity(level='host'),)),
}


def main():
    arguments = _parser().parse_args()
    load_backend('highs')
    for objective in arguments.objective:
        load_objective(objective)
    print(f'{"hosts":>6} {"rack":>4} {"used":>4} {"kinds":>5} {"n":>3} '
          f'{"shape":<18} {"objective":<12} {"min s":>6} {"median":>6} '
          f'{"prefs":>6} {"least":>6} {"value":>9} {"bound":>9} {"gap %":>6}  '
          'phases')
    rows = []
    for hosts, rack, used, kinds, number, objective, shape in (
            itertools.product(
                arguments.hosts, arguments.rack, arguments.utilisation,
                arguments.kinds, arguments.members, arguments.objective,
                arguments.shape)):
        row = _measure(arguments, cloud_in_use(hosts, rack, used, kinds),
                       SHAPES[shape](number), objective)
        row |= {'hosts': hosts, 'rack': rack, 'used': used, 'kinds': kinds,
                'members': number, 'shape': shape, 'objective': objective}
        if row['median'] >= arguments.over:
            print(f'{hosts:>6} {rack:>4} {used:>4} {kinds:>5} {number:>3} '
                  f'{shape:<18} {objective:<12} {row["min"]:>6.2f} '
                  f'{row["median"]:>6.2f} {row["preferences"]:>6g} '
                  f'{row["least"]:>6g} '
                  f'{row["value"]:>9.4f} {row["bound"]:>9.4f} '
                  f'{100 * row["gap"]:>6.2f}  {row["phases"]}', flush=True)
        rows.append(row)
        if arguments.json:
            with open(arguments.json, 'w') as file:
                json.dump(rows, file, indent=1)
    times = sorted(row['median'] for row in rows)
    print(f'{len(rows)} cases: median {statistics.median(times):.3f} s, '
          f'p90 {times[int(0.9 * (len(times) - 1))]:.3f} s, '
          f'max {times[-1]:.3f} s')


@functools.lru_cache(maxsize=1)
def cloud_in_use(hosts, rack, used, kinds):
    """A cloud in which every fifth host has the trait FAST, and every 97th
    host has no servers.

    :param kinds: number of different hosts; 0 means that all differ
    """
    made = cloud(hosts, used / 100, 7, rack)
    first = made.hosts[:kinds or hosts]
    empty = cloud(1, -1.0, 7).hosts[0]
    return dataclasses.replace(made, hosts=tuple(
        dataclasses.replace(
            host, inventories=(here := empty if n % 97 == 96 else first[
                n % len(first)]).inventories,
            servers=here.servers,
            traits=frozenset({'FAST'} if n % 5 == 0 else ()))
        for n, host in enumerate(made.hosts)))


def _measure(arguments, snapshot, group, objective):
    seconds, settings = [], Settings(
        time_limit=arguments.time_limit, timer=time.process_time)
    for _ in range(arguments.runs):
        started = time.process_time()
        answer = solve(group, snapshot, objective=objective,
                       settings=settings)
        seconds.append(time.process_time() - started)
    row = {'min': min(seconds), 'median': statistics.median(seconds),
           'preferences': 0, 'least': 0, 'value': float('nan'),
           'bound': float('nan'), 'gap': float('nan'),
           'phases': type(answer).__name__}
    if isinstance(answer, Plan):
        reasons = check(group, snapshot, answer.hosts(), {})
        if reasons:
            raise SystemExit(f'a bad plan: {reasons[:3]}')
        reached = answer.objective
        cost = answer.preference_cost
        row |= {
            'preferences': cost.value if cost else 0.0,
            'least': cost.bound if cost else 0.0,
            'value': reached.value, 'bound': reached.bound,
            'gap': reached.gap, 'phases': ''}
    if row['median'] >= arguments.profile:
        row['phases'] += _phases(lambda: solve(
            group, snapshot, objective=objective, settings=settings))
    return row


def _phases(call):
    """The shares of the phases, measured with a profiler."""
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(call)
    stats = pstats.Stats(profiler)
    shares = {}
    for (_, _, name), (_, _, _, spent, _) in stats.stats.items():
        if name in PHASES:
            shares[name] = shares.get(name, 0) + spent / stats.total_tt
    return ' '.join(f'{name}:{100 * share:.0f}%' for name, share in sorted(
        shares.items(), key=lambda each: -each[1]) if share > 0.05)


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+', default=[10_000])
    parser.add_argument('--rack', type=int, nargs='+', default=[20],
                        help='hosts of a rack')
    parser.add_argument('--utilisation', type=int, nargs='+', default=[60])
    parser.add_argument('--kinds', type=int, nargs='+', default=[0],
                        help='number of different hosts; 0: all differ')
    parser.add_argument('--members', type=int, nargs='+', default=[10])
    parser.add_argument('--objective', nargs='+',
                        default=['stack', 'spread', 'fewest-hosts',
                                 'network'])
    parser.add_argument('--shape', nargs='+', choices=SHAPES,
                        default=[*SHAPES])
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--time-limit', type=float, default=10.0,
                        help='seconds of processor time')
    parser.add_argument('--over', type=float, default=0.0,
                        help='print only cases that take longer')
    parser.add_argument('--profile', type=float, default=float('inf'),
                        help='print the phases of cases that take longer')
    parser.add_argument('--json', metavar='FILE')
    return parser


if __name__ == '__main__':
    main()
