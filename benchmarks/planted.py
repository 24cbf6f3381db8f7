# SPDX-License-Identifier: Apache-2.0
"""Groups that are feasible by construction, in nearly full clouds: how often
a plan is found; jointly, and one server at a time with the same filters and
weighers.
"""

import argparse
import json
import statistics
import time

from one_by_one import OneByOne
from planted_cloud import PlantedCloud
from planted_devices import PlantedDevices

from nova_holistic.model.plan import Plan
from nova_holistic.solver.check import check
from nova_holistic.solver.milp.highs import HiGHS
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

_STARTED = time.perf_counter() - time.process_time()


def main():
    arguments = _parser().parse_args()
    if arguments.processor:
        HiGHS.solve = by_processor(HiGHS.solve)
    print(f'{"hosts":>5} {"used %":>6} {"members":>7} {"seeds":>5} '
          f'{"joint %":>7} {"one by one %":>12} {"median s":>8} '
          f'{"p95 s":>6} {"max s":>6}   CPU seconds')
    rows = []
    for hosts in arguments.hosts:
        for utilisation in arguments.utilisation:
            rows.append(_measure(arguments, hosts, utilisation))
            if arguments.json:
                with open(arguments.json, 'w') as file:
                    json.dump(rows, file, indent=1)


def _measure(arguments, hosts, utilisation):
    joint, single, seconds, members = 0, 0, [], 0
    timer = time.process_time if arguments.processor else time.perf_counter
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        planted_cloud = (PlantedDevices if arguments.devices
                         else PlantedCloud)(hosts, seed, utilisation / 100)
        members = max(members, len(planted_cloud.group.all_members()))
        started = time.process_time()
        answer = solve(
            planted_cloud.group, planted_cloud.snapshot,
            settings=Settings(timer=timer, time_limit=arguments.time_limit))
        seconds.append(time.process_time() - started)
        placed = isinstance(answer, Plan) and not check(
            planted_cloud.group, planted_cloud.snapshot, answer.hosts())
        joint += placed
        alone = OneByOne(planted_cloud.group, planted_cloud.snapshot).run()
        single += alone
        if arguments.each or not placed:
            gap = (f', gap {100 * answer.objective.gap:.1f} %'
                   if placed and answer.objective else '')
            print(f'    seed {seed}: {type(answer).__name__}, '
                  f'{seconds[-1]:.2f} s{gap}, one by one '
                  f'{"placed" if alone else "not placed"}', flush=True)
    return _row(hosts, utilisation, members, joint, single, seconds)


def by_processor(solve):
    """HiGHS measures only wall clock. The time limit is therefore extended by
    the time for which this process has waited for a processor."""
    def scaled(self, problem, *, seconds, **how):
        waited = (time.perf_counter() - _STARTED) / time.process_time()
        return solve(self, problem, seconds=seconds * max(1, waited), **how)
    return scaled


def _row(hosts, utilisation, members, joint, single, seconds):
    seeds = len(seconds)
    row = {
        'hosts': hosts, 'utilisation': utilisation, 'members': members,
        'seeds': seeds, 'joint': 100 * joint / seeds,
        'one_by_one': 100 * single / seeds,
        'median_s': statistics.median(seconds),
        'p95_s': sorted(seconds)[(seeds * 95 - 1) // 100],
        'max_s': max(seconds)}
    print(f'{hosts:>5} {utilisation:>6g} {members:>7} {seeds:>5} '
          f'{row["joint"]:>7.1f} {row["one_by_one"]:>12.1f} '
          f'{row["median_s"]:>8.2f} {row["p95_s"]:>6.2f} '
          f'{row["max_s"]:>6.2f}', flush=True)
    return row


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, nargs='+',
                        default=[24, 60, 120, 240, 500])
    parser.add_argument('--utilisation', type=float, nargs='+',
                        default=[97.0], metavar='PERCENT',
                        help='usage of the cloud with the planted plan')
    parser.add_argument('--devices', action='store_true',
                        help='groups with GPUs, pinned processors and ports')
    parser.add_argument('--seeds', type=int, default=200)
    parser.add_argument('--first', type=int, default=0, metavar='SEED')
    parser.add_argument('--time-limit', type=float, default=10.0)
    parser.add_argument('--processor', action='store_true',
                        help='the limit is on processor time')
    parser.add_argument('--each', action='store_true',
                        help='a line for each seed')
    parser.add_argument('--json', metavar='FILE',
                        help='write the rows to a file, for plots')
    return parser


if __name__ == '__main__':
    main()
