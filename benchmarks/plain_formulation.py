# SPDX-License-Identifier: Apache-2.0
"""Comparison of the solver with the plain formulation of the same problem.

The plain formulation has an integer for each host and member class. It is
written with PuLP, and the same MILP solver solves it. The objective is the
number of hosts."""

import argparse
import time

from clouds import cloud, CLASSES, FLAVORS
from groups import LEAVES, PER_HOST, shop
import highspy
from planner import run
import pulp


def model(snapshot, group):
    """The LpProblem: x[leaf, flavor][host] members, used[host] at most 1."""
    problem = pulp.LpProblem('plain')
    x = {}
    for leaf in range(LEAVES):
        for description in group.groups[leaf].members:
            x[leaf, description.name] = [problem.add_variable(
                f'x_{leaf}_{description.name}_{h}', 0, PER_HOST,
                pulp.LpInteger) for h in range(len(snapshot.hosts))]
            problem += pulp.lpSum(
                x[leaf, description.name]) == description.count
    used = [problem.add_variable(f'used_{h}', 0, 1, pulp.LpInteger)
            for h in range(len(snapshot.hosts))]
    for h, host in enumerate(snapshot.hosts):
        on_host = {key: row[h] for key, row in x.items()}
        for number, name in enumerate(CLASSES):
            free = host.inventories[name].free
            problem += pulp.lpSum(
                FLAVORS[flavor][number] * variable
                for (_, flavor), variable in on_host.items()) <= free * used[h]
        for leaf in range(LEAVES):
            problem += pulp.lpSum(
                variable for (other, _), variable in on_host.items()
                if other == leaf) <= PER_HOST
    domains(problem, snapshot, x, len(group.all_members()))
    problem += pulp.lpSum(used)
    return problem


def domains(problem, snapshot, x, members):
    """Add the rows of the share of a rack, and of the skew of the zones."""
    racks, zones = {}, {}
    for h, host in enumerate(snapshot.hosts):
        on_host = [row[h] for row in x.values()]
        racks.setdefault(host.location, []).extend(on_host)
        zones.setdefault(host.location[0], []).extend(on_host)
    for variables in racks.values():
        problem += pulp.lpSum(variables) <= max(1, members // 10)
    low = problem.add_variable('low', 0, members, pulp.LpInteger)
    for variables in zones.values():
        problem += pulp.lpSum(variables) >= low
        problem += pulp.lpSum(variables) <= low + 4


def plain(snapshot, group, time_limit):
    """(value, bound, seconds) of the best plan found; value None for none.

    The bound is None if the program was solved before its limit.
    """
    started = time.perf_counter()
    problem = model(snapshot, group)
    pulp.HiGHS(msg=False, timeLimit=time_limit, gapRel=0.01).solve(problem)
    ended = time.perf_counter() - started
    solver = problem.solverModel
    stopped = solver.getModelStatus() == highspy.HighsModelStatus.kTimeLimit
    has_plan = problem.sol_status in (
        pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
    return (round(pulp.value(problem.objective)) if has_plan else None,
            solver.getInfo().mip_dual_bound if stopped else None, ended)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=1000)
    parser.add_argument('--members', type=int, default=200)
    parser.add_argument('--utilisation', type=int, default=75)
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--time-limit', type=float, default=60.0,
                        help='time limit of the plain formulation in seconds')
    parser.add_argument('--our-limit', type=float, default=1.0)
    arguments = parser.parse_args()
    print('Fewest hosts; wall clock. If the plain formulation reached its '
          f'limit of {arguments.time_limit:g} s, "bound" is\nthe bound that '
          'it had proved, and "times" is a minimum, because it would have '
          'taken longer.')
    print(f'{"seed":>4} {"plain":>6} {"bound":>6} {"s":>7} {"ours":>6} '
          f'{"s":>7} {"times":>6}')
    for seed in range(arguments.seeds):
        snapshot = cloud(arguments.hosts, arguments.utilisation / 100, seed)
        group = shop(arguments.members)
        ours = run(group, snapshot, 'fewest-hosts', arguments.our_limit)
        value, bound, seconds = plain(snapshot, group, arguments.time_limit)
        proven = '-' if bound is None else f'{bound:.2f}'
        times = f'{seconds / ours["seconds"]:.0f}'
        print(f'{seed:>4} {value if value else "none":>6} {proven:>6} '
              f'{seconds:>7.2f} {ours["value"]:>6.0f} '
              f'{ours["seconds"]:>7.2f} '
              f'{times if bound is None else ">" + times:>6}', flush=True)


if __name__ == '__main__':
    main()
