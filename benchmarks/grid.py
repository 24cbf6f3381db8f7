# SPDX-License-Identifier: Apache-2.0
"""Plans over the whole grid of sizes and shapes, with gates.

Time, proven gap, unmet preferences and the share of planted groups placed, for
each family of groups. The run fails if a plan is unknown where one is planted,
if a preference is not met although the planted plan costs less, or if a plan
takes more than a tenth longer than the time limit. The points are drawn at
random from the seed: another seed measures other sizes and shapes.
"""

import argparse
import dataclasses
import json
import statistics
import sys
import time

import grid_cases
from grid_cases import FAMILIES, KNOWN, Point
from planted import by_processor

from nova_holistic.model.binding import bind
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.objectives import load_objective
from nova_holistic.solver.check import check
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.milp.highs import HiGHS
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

GRACE = 1.1
"""Times the time limit that a plan may take."""

HEADER = (f'{"family":<10} {"hosts":>6} {"racks":>5} {"members":>7} '
          f'{"used %":>6} {"objective":<13} {"answer":<11} {"s":>6} '
          f'{"gap %":>7} {"unmet":>7} {"planted":>7}')


def main():
    arguments = _parser().parse_args()
    timer = time.perf_counter
    if arguments.processor:
        timer, HiGHS.solve = time.process_time, by_processor(HiGHS.solve)
    load_backend('highs')
    for objective in grid_cases.OBJECTIVES:
        load_objective(objective)
    points = KNOWN if arguments.known else [*grid_cases.points(
        arguments.points, arguments.seed, arguments.family,
        arguments.most_hosts, arguments.most_members)]
    print(HEADER)
    rows = []
    for point in points:
        rows.append(_measured(point, arguments.time_limit, timer))
        _print_row(rows[-1])
        if arguments.json:
            with open(arguments.json, 'w') as file:
                json.dump(rows, file, indent=1)
    _print_families(rows)
    if arguments.plot:
        from grid_plots import draw
        draw(rows, arguments.plot)
    sys.exit(1 if any(row['failures'] for row in rows) else 0)


def _measured(point: Point, limit, timer):
    case = grid_cases.case(point)
    started = timer()
    answer = solve(case.group, case.snapshot, objective=point.objective,
                   settings=Settings(time_limit=limit, timer=timer))
    seconds = timer() - started
    row = {**dataclasses.asdict(point),
           'members': len(case.group.all_members()),
           'answer': type(answer).__name__, 'seconds': seconds,
           'gap': None, 'unmet': None, 'planted_unmet': None, 'failures': []}
    if case.planted is not None:
        row['planted_unmet'] = _unmet(case, case.planted)
    if isinstance(answer, Plan):
        row['gap'] = answer.objective.gap
        row['unmet'] = _unmet(case, answer.hosts())
        bad = check(case.group, case.snapshot, answer.hosts())
        row['failures'] += [f'a bad plan: {reason.message}' for reason in bad]
    row['failures'] += _failures(row, answer, limit)
    return row


def _failures(row, answer, limit):
    """The violated limits of one row."""
    planted = row['planted_unmet']
    if row['seconds'] > GRACE * limit:
        yield f'{row["seconds"]:.1f} s of {limit:g} s'
    if planted is None:
        return
    if isinstance(answer, Unplaceable):
        yield 'unplaceable, although there is a plan'
    elif not isinstance(answer, Plan):
        yield 'unknown, although there is a plan'
    elif row['unmet'] > planted + 1e-9:
        yield (f'preferences cost {row["unmet"]:g}, and {planted:g} in the '
               f'planted plan')


def _unmet(case, where):
    """Weighted violations of the preferences of a plan."""
    hosts = {host.name: host for host in case.snapshot.hosts}
    placement = {path: hosts[name] for path, name in where.items()}
    group = bind(case.group, case.snapshot)
    return float(sum(
        rule.weight * rule.check(scope, {
            member.path: placement[member.path] for member in scope.members},
            case.snapshot).count
        for scope in group.scopes() for rule in scope.group.rules
        if not rule.hard))


def _print_row(row):
    gap = '' if row['gap'] is None else f'{100 * row["gap"]:.2f}'
    unmet, planted = (
        '' if row[key] is None else f'{row[key]:g}'
        for key in ('unmet', 'planted_unmet'))
    print(f'{row["family"]:<10} {row["hosts"]:>6} {row["racks"]:>5} '
          f'{row["members"]:>7} {row["utilisation"]:>6} '
          f'{row["objective"]:<13} {row["answer"]:<11} '
          f'{row["seconds"]:>6.2f} {gap:>7} {unmet:>7} {planted:>7} '
          f'{"; ".join(row["failures"])}', flush=True)


def _print_families(rows):
    print(f'\n{"family":<10} {"points":>6} {"plans %":>7} '
          f'{"median s":>8} {"max s":>6} {"median gap %":>12} '
          f'{"max gap %":>9} {"unknown":>7} {"failed":>6}')
    for family in FAMILIES:
        family_rows = [row for row in rows if row['family'] == family]
        if not family_rows:
            continue
        seconds = [row['seconds'] for row in family_rows]
        gaps = [100 * row['gap'] for row in family_rows
                if row['gap'] is not None]
        print(f'{family:<10} {len(family_rows):>6} '
              f'{100 * len(gaps) / len(family_rows):>7.1f} '
              f'{statistics.median(seconds):>8.2f} {max(seconds):>6.2f} '
              f'{statistics.median(gaps or [0]):>12.2f} '
              f'{max(gaps, default=0):>9.2f} '
              f'{sum(row["answer"] == "Unknown" for row in family_rows):>7} '
              f'{sum(bool(row["failures"]) for row in family_rows):>6}')


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--family', nargs='+', choices=FAMILIES,
                        default=list(FAMILIES))
    parser.add_argument('--points', type=int, default=20,
                        help='points of each family')
    parser.add_argument('--seed', type=int, default=0,
                        help='seed of the points')
    parser.add_argument('--known', action='store_true',
                        help='the points at which an earlier solver was weak')
    parser.add_argument('--most-hosts', type=int,
                        default=grid_cases.HOSTS[1])
    parser.add_argument('--most-members', type=int,
                        default=grid_cases.MEMBERS[1])
    parser.add_argument('--time-limit', type=float, default=10.0)
    parser.add_argument('--processor', action='store_true',
                        help='seconds and the limit are processor time')
    parser.add_argument('--json', metavar='FILE', help='write all rows there')
    parser.add_argument('--plot', metavar='FILE', help='draw all rows there')
    return parser


if __name__ == '__main__':
    main()
