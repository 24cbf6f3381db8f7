# SPDX-License-Identifier: Apache-2.0
"""Processor time, value and bound of groups with sets of members that are in
one rack each.

A set is a nested group with affinity by rack: two to four members, or a member
of each of two flavors. ``apart`` adds anti-affinity by host to each set,
``singles`` adds members without a policy, and ``shared`` gives the hosts of a
rack one storage. Each case is solved with and without the bounds and plans of
sets in turn, in one process. The time limit is in seconds of processor time.
"""

import argparse
from collections import Counter
import dataclasses
import itertools
import json
import statistics
import time

from clouds import cloud, FLAVORS

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.check import check
from nova_holistic.solver.limits.current import Limits
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

WITHOUT = dataclasses.replace(Limits(), confined=dataclasses.replace(
    Limits().confined, kinds=()))
"""Limits with which the solver does not count sets."""


def members(name, number, flavor='medium'):
    return MemberDescription(name, Requirements(flavor=flavor), number)


def sets(number, *inside, policies=(), others=()):
    """A group of sets in one rack each."""
    return Group('sets', others, tuple(
        Group(f's{n}', inside, (), (Affinity(level='rack'), *policies))
        for n in range(number)))


SHAPES = {
    'pairs': lambda n: sets(n, members('m', 2)),
    'triples': lambda n: sets(n, members('m', 3)),
    'quadruples': lambda n: sets(n, members('m', 4)),
    'mixed': lambda n: sets(n, members('a', 1), members('b', 1, 'large')),
    'apart': lambda n: sets(n, members('m', 2), policies=(AntiAffinity(),)),
    'singles': lambda n: sets(n, members('m', 2), others=(members('o', n),)),
    'types': lambda n: Group('sets', (), tuple(
        Group(f's{k}', (members('m', 2 + k % 3, [*FLAVORS][k % 2]),), (),
              (Affinity(level='rack'),)) for k in range(n))),
    'one': lambda n: sets(1, members('m', 2 * n)),
    'shared': lambda n: sets(n, members('m', 2)),
}


def main():
    arguments = _parser().parse_args()
    load_backend('highs')
    rows = []
    print(f'{"shape":<10} {"objective":<12} {"hosts":>5} {"racks":>5} '
          f'{"used":>4} {"sets":>4} {"seed":>4}  '
          'CPU s, value, gap % without; with')
    for shape, objective, hosts, racks, used, number, seed in (
            itertools.product(
                arguments.shape, arguments.objective, arguments.hosts,
                arguments.racks, arguments.utilisation, arguments.sets,
                range(arguments.seed, arguments.seed + arguments.seeds))):
        load_objective(objective)
        snapshot = _cloud(hosts, racks, used, seed, shape == 'shared')
        group = SHAPES[shape](number)
        found = [_solved(group, snapshot, objective, arguments, limits)
                 for limits in (WITHOUT, None)[arguments.only_with:]]
        rows.append({'shape': shape, 'objective': objective, 'hosts': hosts,
                     'racks': racks, 'used': used, 'sets': number,
                     'seed': seed, 'found': found})
        print(f'{shape:<10} {objective:<12} {hosts:>5} {racks:>5} {used:>4} '
              f'{number:>4} {seed:>4}  ' + ';  '.join(
                  f'{each["seconds"]:>6.2f} {each["value"]:>9.4f} '
                  f'{100 * each["gap"]:>6.2f}' for each in found), flush=True)
        if arguments.json:
            with open(arguments.json, 'w') as file:
                json.dump(rows, file, indent=1)
    for name, each in zip(('without', 'with')[arguments.only_with:],
                          zip(*(row['found'] for row in rows))):
        gaps = [100 * one['gap'] for one in each]
        seconds = [one['seconds'] for one in each]
        print(f'{name:<8} gap %: median {statistics.median(gaps):.2f}, max '
              f'{max(gaps):.2f}; CPU s: median '
              f'{statistics.median(seconds):.2f}, max {max(seconds):.2f}')


def _cloud(hosts, racks, used, seed, shared):
    """A cloud in use; its hosts may share the storage of their rack."""
    made = cloud(hosts, used / 100, seed, -(-hosts // racks), zones=1)
    if not shared:
        return made
    free, total = Counter(), Counter()
    for host in made.hosts:
        disk = host.inventories['DISK_GB']
        total[host.location] += disk.total
        free[host.location] += disk.free
    storage = {rack: NestedProvider(
        rack[-1], rack[-1], '', FrozenMapping({'DISK_GB': Inventory(
            total[rack], used=total[rack] - min(
                free[rack], 40 * (2 + number % 5)))}), sharing=True)
        for number, rack in enumerate(sorted(total))}
    return dataclasses.replace(made, hosts=tuple(
        dataclasses.replace(
            host, providers=(storage[host.location],),
            inventories=FrozenMapping({
                name: inventory for name, inventory
                in host.inventories.items() if name != 'DISK_GB'}))
        for host in made.hosts))


def _solved(group, snapshot, objective, arguments, limits):
    settings = Settings(time_limit=arguments.time_limit,
                        timer=time.process_time, limits=limits)
    started = time.process_time()
    answer = solve(group, snapshot, objective=objective, settings=settings)
    seconds = time.process_time() - started
    if not isinstance(answer, Plan):
        return {'seconds': seconds, 'value': float('nan'), 'gap': 1.0,
                'answer': type(answer).__name__}
    if reasons := check(group, snapshot, answer.hosts(), {}):
        raise SystemExit(f'a bad plan: {reasons[:3]}')
    return {'seconds': seconds, 'value': answer.objective.value,
            'bound': answer.objective.bound, 'gap': answer.objective.gap}


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--shape', nargs='+', choices=SHAPES,
                        default=[*SHAPES])
    parser.add_argument('--objective', nargs='+',
                        default=['stack', 'spread', 'fewest-hosts'])
    parser.add_argument('--hosts', type=int, nargs='+', default=[120])
    parser.add_argument('--racks', type=int, nargs='+', default=[12])
    parser.add_argument('--utilisation', type=int, nargs='+', default=[90])
    parser.add_argument('--sets', type=int, nargs='+', default=[16])
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--time-limit', type=float, default=10.0,
                        help='seconds of processor time')
    parser.add_argument('--only-with', action='store_true',
                        help='do not solve without the bounds and plans of '
                             'sets')
    parser.add_argument('--json', metavar='FILE')
    return parser


if __name__ == '__main__':
    main()
