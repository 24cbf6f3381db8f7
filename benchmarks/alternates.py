# SPDX-License-Identifier: Apache-2.0
"""The cost of the alternates of a plan, without the plan, in CPU seconds.

Any choice of one host for each member, its planned host or one of its
alternates, satisfies the group's hard policies. The table also shows the
number of rows of the policies, and the number of alternates for each member.
"""

import argparse
import time
from unittest import mock

from clouds import cloud
from groups import leaf, related_shop, shop

from nova_holistic.model.binding import bind
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.alternates.alternates import alternates
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.problem.rules import Rules
from nova_holistic.solver.solve import solve


def apart(members):
    """No two on one host."""
    return Group('apart', (), (leaf('all', members),),
                 (AntiAffinity(level='host'),))


def even(members):
    """No two on one host, and as many in each rack as in each other one."""
    return Group('even', (), (leaf('all', members),), (
        AntiAffinity(level='host'), Spread(level='rack', max_skew=1)))


def exclusive(members):
    """A tenth of the members have their hosts to themselves."""
    few = max(1, members // 10)
    return Group('exclusive', (), (
        leaf('own', few, (Exclusive(level='host'),)),
        leaf('others', members - few)))


def racks(members):
    """Parts of ten members, each in one rack and on ten hosts."""
    return Group('racks', (), tuple(
        leaf(f'part{n}', 10, (Affinity(level='rack'), AntiAffinity()))
        for n in range(max(1, members // 10))))


GROUPS = {'plain': shop, 'related': related_shop, 'apart': apart,
          'even': even, 'exclusive': exclusive, 'racks': racks}


def main():
    arguments = _parser().parse_args()
    print(f'{"hosts":>6} {"members":>7} {"group":<10} {"plan s":>7} '
          f'{"alternates s":>12} {"rows":>7} {"each":>5}')
    for hosts in arguments.hosts:
        for name in arguments.group:
            for seed in range(arguments.seeds):
                _measure(hosts, name, seed, arguments)


def _measure(hosts, name, seed, arguments):
    snapshot = cloud(hosts, 0.75, seed)
    group = bind(GROUPS[name](arguments.members), snapshot)
    begin = time.process_time()
    plan = solve(group, snapshot, objective='spread')
    planned = time.process_time()
    row = f'{hosts:>6} {arguments.members:>7} {name:<10} '
    if not isinstance(plan, Plan):
        print(f'{row}{planned - begin:>7.2f} no plan', flush=True)
        return
    with mock.patch.object(Rules, 'require', autospec=True,
                           side_effect=Rules.require) as require:
        ended = time.process_time()
        hosts_of = alternates(PlannedGroup(group, snapshot, plan),
                              arguments.alternates)
        seconds = time.process_time() - ended
    number = sum(map(len, hosts_of.values())) / len(hosts_of)
    print(f'{row}{planned - begin:>7.2f} {seconds:>12.2f} '
          f'{require.call_count:>7} {number:>5.1f}', flush=True)


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+', default=[10_000])
    parser.add_argument('--members', type=int, default=1_000)
    parser.add_argument('--group', nargs='+', choices=GROUPS,
                        default=list(GROUPS))
    parser.add_argument('--alternates', type=int, default=8,
                        help='maximum number of alternates of each member')
    parser.add_argument('--seeds', type=int, default=3)
    return parser


if __name__ == '__main__':
    main()
