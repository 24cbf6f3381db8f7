# SPDX-License-Identifier: Apache-2.0
"""The contribution of each strategy of the solver (``strategy_patches.py``).

Points of the grid (``grid_cases``), or groups of ``small_groups.py``, are
solved with all strategies, and then with one strategy disabled at a time, if
the first solve calls its functions. The time limit is one of effort
(``effort_clock``). Equal runs have equal answers and efforts, as the row
``nothing`` shows. Therefore, a strategy is *used* at a point if the answer or
the effort differs without it. For each strategy, the table shows the number of
these points, on how many of them the plan or the bound was worse or better
without it, and the effort without it in relation to the effort with it. The
column ``chance`` is the probability that a strategy without any effect leads
to a difference at least this large between the points that are worse and those
that are better: a two-sided sign test over plans and bounds.

A plan is *worse* if it is missing, if it violates preferences of more weight,
or if its objective is larger by more than the tolerance. A bound is *worse* if
the proven gap is larger by more than the tolerance although the plan is as
good.
"""

import argparse
import contextlib
from dataclasses import replace
import inspect
import itertools
import json
import math
import pathlib
import statistics
from unittest import mock

from effort_clock import effort_clock
import grid_cases
from grid_cases import FAMILIES
import small_groups
from strategy_patches import STRATEGIES

from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.solver.improve.neighbourhoods import NEIGHBOURHOODS
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

HOSTS_PER_RACK = 20
"""In the clouds of small groups."""

TOLERANCE = 0.005
"""Difference of values, and of gaps, below which two answers are equal."""


def main():
    arguments = parser().parse_args()
    load_backend('highs')
    for objective in grid_cases.OBJECTIVES:
        load_objective(objective)
    names = arguments.strategies or [
        *STRATEGIES, *(f'neighbourhood {name}' for name in NEIGHBOURHOODS)]
    rows = {name: [] for name in ('all', *names)}
    for problem in problems(arguments):
        called = {name for name in names if not STRATEGIES.get(name)}
        with recorded_calls(names, called):
            everything = measured(problem, 'all', arguments.time_limit)
        rows['all'].append(everything)
        for name in names:
            rows[name].append(everything if name not in called else measured(
                problem, name, arguments.time_limit))
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1))
    print_table(rows)


def problems(arguments):
    """Yield group, snapshot and objective of each point."""
    for shape, hosts, members, objective in itertools.product(
            arguments.shape, arguments.hosts, arguments.members,
            arguments.objective):
        yield (small_groups.SHAPES[shape](members), small_groups.cloud_in_use(
            hosts, HOSTS_PER_RACK, arguments.utilisation, 0), objective)
    for point in () if arguments.shape else grid_cases.points(
            arguments.points, arguments.seed, arguments.family,
            arguments.most_hosts):
        case = grid_cases.case(point)
        yield case.group, case.snapshot, point.objective


@contextlib.contextmanager
def recorded_calls(names, called):
    """Add the strategies to ``called`` whose functions are called in this
    block."""
    def recording(name, known):
        function = getattr(known, '__func__', known)

        def call(*arguments, **options):
            called.add(name)
            return function(*arguments, **options)

        return type(known)(call) if function is not known else call

    with contextlib.ExitStack() as stack:
        for name in STRATEGIES.keys() & names:
            for owner, attribute, _ in STRATEGIES[name]:
                stack.enter_context(mock.patch.object(
                    owner, attribute, recording(
                        name, inspect.getattr_static(owner, attribute))))
        yield


def measured(problem, name, limit):
    """Cost of preferences, value, gap and seconds of effort of one answer."""
    settings = Settings()
    group, snapshot, objective = problem
    if name.startswith('neighbourhood '):
        omitted = name.removeprefix('neighbourhood ')
        settings = Settings(improvement=Improvement(neighbourhoods=tuple(
            each for each in NEIGHBOURHOODS if each != omitted)))
    with contextlib.ExitStack() as stack:
        for owner, attribute, function in STRATEGIES.get(name, ()):
            stack.enter_context(mock.patch.object(owner, attribute, function))
        clock = stack.enter_context(effort_clock())
        answer = solve(
            group, snapshot, objective=objective,
            settings=replace(settings, time_limit=limit, timer=clock))
    return measured_answer(answer, clock.now)


def measured_answer(answer, seconds):
    """The measured values of a given answer."""
    if not isinstance(answer, Plan):
        return {'answer': type(answer).__name__, 'seconds': seconds}
    unmet = answer.preference_cost
    return {'answer': 'Plan', 'seconds': seconds,
            'unmet': unmet.value if unmet else 0.0,
            'value': answer.objective.value, 'gap': answer.objective.gap}


def compared(with_it, without):
    """'worse', 'better' or None for plan, bound and time without it."""
    plan, other = (row['answer'] == 'Plan' for row in (with_it, without))
    if not plan or not other:
        return ('worse' if plan else 'better' if other else None), None
    cost, less = with_it['unmet'], without['unmet']
    if abs(cost - less) > TOLERANCE * max(cost, less):
        return ('worse' if less > cost else 'better'), None
    value, lower = with_it['value'], without['value']
    if abs(value - lower) > TOLERANCE * max(abs(value), abs(lower)):
        return ('worse' if lower > value else 'better'), None
    gap = without['gap'] - with_it['gap']
    return None, ('worse' if gap > TOLERANCE else
                  'better' if gap < -TOLERANCE else None)


def print_table(rows):
    everything = rows.pop('all')
    print(f'{"without":<36} {"used":>4} {"plan worse":>10} {"better":>6} '
          f'{"bound worse":>11} {"better":>6} {"chance":>6} {"effort":>6}')
    for name, own_rows in rows.items():
        pairs = [pair for pair in zip(everything, own_rows)
                 if pair[0] != pair[1]]
        comparisons = [compared(*pair) for pair in pairs]
        print(f'{name:<36} {len(pairs):>4} '
              f'{counted(comparisons, 0, "worse"):>10} '
              f'{counted(comparisons, 0, "better"):>6} '
              f'{counted(comparisons, 1, "worse"):>11} '
              f'{counted(comparisons, 1, "better"):>6} '
              f'{sign_test(comparisons):>6.2f} '
              f'{effort_ratio(pairs):>6.2f}', flush=True)
    print(f'{len(everything)} points')


def counted(comparisons, index, word):
    return sum(each[index] == word for each in comparisons)


def effort_ratio(pairs):
    """Median of the effort without a strategy in relation to that with it."""
    return statistics.median([other['seconds'] / known['seconds']
                              for known, other in pairs] or [1.0])


def sign_test(comparisons):
    """Probability of a difference at least this large by chance, between 0
    and 1."""
    worse, better = (counted(comparisons, 0, word)
                     + counted(comparisons, 1, word)
                     for word in ('worse', 'better'))
    number, fewer = worse + better, min(worse, better)
    return min(1.0, 2 * sum(math.comb(number, n) for n in range(fewer + 1))
               / 2 ** number)


def parser():
    options = point_parser(
        __doc__, points=8, most_hosts=10_000, time_limit=10.0)
    options.add_argument('--strategies', nargs='+', choices=STRATEGIES,
                         help='strategies to disable, one at a time; default: '
                              'all, and every neighbourhood')
    options.add_argument('--shape', nargs='+', default=[],
                         choices=small_groups.SHAPES,
                         help='shapes of small groups to solve instead of '
                              'points of the grid')
    options.add_argument('--hosts', nargs='+', type=int, default=[2_000],
                         help='numbers of hosts for small groups')
    options.add_argument('--members', nargs='+', type=int, default=[10],
                         help='numbers of members of small groups')
    options.add_argument('--utilisation', type=int, default=60,
                         help='percent of the cloud in use, for small groups')
    options.add_argument('--objective', nargs='+', default=['stack'],
                         choices=grid_cases.OBJECTIVES,
                         help='objectives of small groups')
    return options


def point_parser(description, **defaults):
    """The options that choose the points and the time limit."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument('--family', nargs='+', choices=FAMILIES,
                         default=list(FAMILIES))
    options.add_argument('--points', type=int, help='points of each family')
    options.add_argument('--seed', type=int, default=0,
                         help='seed of the points')
    options.add_argument('--most-hosts', type=int)
    options.add_argument('--time-limit', type=float,
                         help='time limit of effort (effort_clock)')
    options.add_argument('--json', type=pathlib.Path,
                         help='file for all figures')
    options.set_defaults(**defaults)
    return options


if __name__ == '__main__':
    main()
