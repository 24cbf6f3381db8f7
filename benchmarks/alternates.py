# SPDX-License-Identifier: Apache-2.0
"""What alternates cost beside the plan that they are for, in CPU seconds.

Any choice of one host for each member, its own or one of its alternates, keeps
the group's hard policies.
"""

import argparse
import time

from clouds import cloud
from groups import leaf, related_shop, shop

from nova_holistic.model.binding import bind
from nova_holistic.model.group import Group
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.alternates import alternates
from nova_holistic.solver.solve import solve


def apart(members):
    """No two on one host."""
    return Group('apart', (), (leaf('all', members),),
                 (AntiAffinity(level='host'),))


GROUPS = {'plain': shop, 'related': related_shop, 'apart': apart}


def main():
    arguments = _parser().parse_args()
    print(f'{"hosts":>6} {"members":>7} {"group":<8} {"plan s":>7} '
          f'{"alternates s":>12} {"each":>5}')
    for name in arguments.group:
        for seed in range(arguments.seeds):
            snapshot = cloud(arguments.hosts, 0.75, seed)
            group = bind(GROUPS[name](arguments.members), snapshot)
            begin = time.process_time()
            plan = solve(group, snapshot, objective='spread')
            planned = time.process_time()
            found = alternates(group, snapshot, plan, arguments.alternates)
            ended = time.process_time()
            number = sum(map(len, found.values())) / len(found)
            print(f'{arguments.hosts:>6} {arguments.members:>7} {name:<8} '
                  f'{planned - begin:>7.2f} {ended - planned:>12.2f} '
                  f'{number:>5.1f}', flush=True)


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=10_000)
    parser.add_argument('--members', type=int, default=1_000)
    parser.add_argument('--group', nargs='+', choices=GROUPS,
                        default=list(GROUPS))
    parser.add_argument('--alternates', type=int, default=8,
                        help='of each member at most')
    parser.add_argument('--seeds', type=int, default=3)
    return parser


if __name__ == '__main__':
    main()
