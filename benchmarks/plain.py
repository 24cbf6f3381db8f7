# SPDX-License-Identifier: Apache-2.0
"""The plain formulation of the same problem, as a peer: an integer for each
host and member class, in PuLP, by the same solver; fewest hosts."""

import argparse
import time

from clouds import cloud, CLASSES, FLAVORS
from groups import LEAVES, PER_HOST, shop
from planner import run
import pulp


def plain(snapshot, group, time_limit):
    """(value, seconds) of the best plan found; value None for none."""
    started = time.perf_counter()
    problem = pulp.LpProblem('plain')
    hosts = snapshot.hosts
    x, used = {}, []
    for leaf in range(LEAVES):
        for description in group.groups[leaf].members:
            x[leaf, description.name] = [problem.add_variable(
                f'x_{leaf}_{description.name}_{h}', 0, PER_HOST,
                pulp.LpInteger) for h in range(len(hosts))]
            problem += pulp.lpSum(
                x[leaf, description.name]) == description.count
    racks, zones = {}, {}
    for h, host in enumerate(hosts):
        used.append(problem.add_variable(f'used_{h}', 0, 1, pulp.LpInteger))
        here = {key: row[h] for key, row in x.items()}
        for number, name in enumerate(CLASSES):
            free = host.inventories[name].free
            problem += pulp.lpSum(
                FLAVORS[flavor][number] * variable
                for (_, flavor), variable in here.items()) <= free * used[h]
        for leaf in range(LEAVES):
            problem += pulp.lpSum(
                variable for (other, _), variable in here.items()
                if other == leaf) <= PER_HOST
        racks.setdefault(host.location, []).extend(here.values())
        zones.setdefault(host.location[0], []).extend(here.values())
    members = len(group.all_members())
    for variables in racks.values():
        problem += pulp.lpSum(variables) <= max(1, members // 10)
    low = problem.add_variable('low', 0, members, pulp.LpInteger)
    for variables in zones.values():
        problem += pulp.lpSum(variables) >= low
        problem += pulp.lpSum(variables) <= low + 4
    problem += pulp.lpSum(used)
    pulp.HiGHS(msg=False, timeLimit=time_limit, gapRel=0.01).solve(problem)
    ended = time.perf_counter() - started
    found = problem.sol_status in (
        pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible)
    return (round(pulp.value(problem.objective)) if found else None), ended


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=1000)
    parser.add_argument('--members', type=int, default=200)
    parser.add_argument('--utilisation', type=int, default=75)
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--time-limit', type=float, default=60.0)
    arguments = parser.parse_args()
    print(f'{"seed":>4} {"plain":>6} {"s":>7} {"ours":>6} {"s":>7} '
          f'{"times":>6}')
    for seed in range(arguments.seeds):
        snapshot = cloud(arguments.hosts, arguments.utilisation / 100, seed)
        group = shop(arguments.members)
        ours = run(group, snapshot, 'fewest-hosts', 10.0)
        value, seconds = plain(snapshot, group, arguments.time_limit)
        print(f'{seed:>4} {value if value else "none":>6} {seconds:>7.2f} '
              f'{ours["value"]:>6.0f} {ours["seconds"]:>7.2f} '
              f'{seconds / ours["seconds"]:>6.0f}', flush=True)


if __name__ == '__main__':
    main()
