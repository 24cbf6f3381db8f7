# SPDX-License-Identifier: Apache-2.0
"""Time, value and proven gap of plans for large groups on large clouds.

The time is from a snapshot in memory to a plan that has passed the independent
check.
"""

import argparse
import json
import resource
import statistics
import time

from clouds import cloud
from groups import chatty_shop, related_shop, shop

from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.solver.check import check
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

GROUPS = {'plain': shop, 'related': related_shop, 'network': chatty_shop}


def main():
    arguments = _parser().parse_args()
    print(f'{"hosts":>6} {"members":>7} {"group":<8} {"objective":<13} '
          f'{"used %":>6} {"runs":>4} {"median s":>8} {"max s":>7} '
          f'{"check s":>7} {"gap %":>6} {"over":>6} {"RSS MiB":>8}')
    rows = []
    # A process searches for plug-ins only once; an engine has loaded them.
    load_backend('highs')
    for objective in arguments.objective:
        load_objective(objective)
    for hosts in arguments.hosts:
        for utilisation in arguments.utilisation:
            for objective in arguments.objective:
                rows.append(_measure(arguments, hosts, utilisation,
                                     objective))
                if arguments.json:
                    with open(arguments.json, 'w') as file:
                        json.dump(rows, file, indent=1)


def _measure(arguments, hosts, utilisation, objective):
    runs = []
    for seed in range(arguments.seeds):
        snapshot = cloud(hosts, utilisation / 100, seed)
        group = GROUPS[arguments.group](arguments.members)
        runs.append(run(group, snapshot, objective, arguments.time_limit))
        if arguments.each:
            print('   ', runs[-1])
    seconds = [each['seconds'] for each in runs]
    resident = _resident()
    print(f'{hosts:>6} {arguments.members:>7} '
          f'{arguments.group:<8} {objective:<13} {utilisation:>6} '
          f'{len(runs):>4} {statistics.median(seconds):>8.2f} '
          f'{max(seconds):>7.2f} '
          f'{statistics.median(r["check"] for r in runs):>7.3f} '
          f'{100 * max(r["gap"] for r in runs):>6.2f} '
          f'{max(r["value"] - r["bound"] for r in runs):>6.2f} '
          f'{resident:>8.0f}', flush=True)
    return {'hosts': hosts, 'members': arguments.members,
            'group': arguments.group, 'objective': objective,
            'utilisation': utilisation, 'seconds': seconds,
            'gap': [each['gap'] for each in runs],
            'over': [each['value'] - each['bound'] for each in runs],
            'resident_mib': resident}


def run(group, snapshot, objective, time_limit, placed=None):
    """One plan and its check; figures of both."""
    started = time.perf_counter()
    answer = solve(group, snapshot, objective=objective, placed=placed or {},
                   settings=Settings(time_limit=time_limit))
    planned = time.perf_counter()
    if not isinstance(answer, Plan):
        raise SystemExit(f'no plan: {answer}')
    reasons = check(group, snapshot, answer.hosts(), placed or {})
    ended = time.perf_counter()
    if reasons:
        raise SystemExit(f'a bad plan: {reasons[:3]}')
    reached = answer.objective
    return {'seconds': ended - started, 'check': ended - planned,
            'value': reached.value, 'bound': reached.bound, 'gap': reached.gap,
            'preferences': sum(p.violations for p in answer.preferences),
            'plan': answer.hosts() if placed is not None else None}


def _resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+', default=[10_000])
    parser.add_argument('--members', type=int, default=1000)
    parser.add_argument('--group', choices=GROUPS, default='plain')
    parser.add_argument('--objective', nargs='+', default=['fewest-hosts'])
    parser.add_argument('--utilisation', type=int, nargs='+',
                        default=[75, 90, 93])
    parser.add_argument('--seeds', type=int, default=5)
    parser.add_argument('--time-limit', type=float, default=10.0)
    parser.add_argument('--json', metavar='FILE',
                        help='write all rows there, each run with its figures')
    parser.add_argument('--each', action='store_true',
                        help='print each run')
    return parser


if __name__ == '__main__':
    main()
