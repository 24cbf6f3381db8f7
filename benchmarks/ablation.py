# SPDX-License-Identifier: Apache-2.0
"""The contribution of each strategy of the solver.

Points of the grid (``grid_cases``) are solved with all strategies, and then
with one strategy disabled at a time. The time limit is one of effort
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
import json
import math
import pathlib
import statistics
from unittest import mock

from effort_clock import effort_clock
import grid_cases
from grid_cases import FAMILIES
import numpy as np

from nova_holistic.model.plan import Plan
from nova_holistic.objectives import load_objective
from nova_holistic.solver import all_hosts, large, part_bounds, solve as top
from nova_holistic.solver.column_generation.dominance import Dominance
from nova_holistic.solver.column_generation import diving, dual_vertices
from nova_holistic.solver.construct.confinement import Confinement
from nova_holistic.solver.construct import first_plan, greedy
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition import cells, class_counts
from nova_holistic.solver.decomposition.cohesive_kinds import CohesiveKinds
from nova_holistic.solver.decomposition import host_assignment
from nova_holistic.solver.improve.adaptive_selection import AdaptiveSelection
from nova_holistic.solver.improve.neighbourhoods import NEIGHBOURHOODS
from nova_holistic.solver.improve import search as improve
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.limits.current import limits
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.milp import search
from nova_holistic.solver.ruin_recreate import part_search
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.traffic import cell_variables, integer_counts
from nova_holistic.solver.traffic import traffic_bound

TOLERANCE = 0.005
"""Difference of values, and of gaps, below which two answers are equal."""


def nothing(*_arguments, **_options):
    """In place of a function that returns a plan, or None."""


def nothing_at_all(*_arguments):
    """In place of a function that returns a list."""
    return []


def no(*_arguments, **_options):
    return False


def plain_case(case, check):
    """Replaces the presolve: no group is refused, and no capacity is
    reduced."""
    return None, case.room


def whole_hosts(kinds, cells):
    """Replaces the relaxation that separates members."""
    return CohesiveKinds(kinds, cells)


def open_places(case, objective, in_time):
    """In place of the search for dominated hosts."""
    return case.open_room(in_time) > 0


def single_classes(case):
    """In place of the components of classes."""
    return [frozenset({c}) for c in range(len(case.classes))]


def none_dominated(self, members, *_arguments):
    return np.zeros(len(members), dtype=bool)


def no_vertices(amounts, size):
    """In place of the vertices of resources."""
    return None


def all_allowed(self, *_arguments):
    return None, None


def with_limits(section, **values):
    """Replaces the function that returns the limits of a section."""
    def changed():
        return replace(getattr(limits(), section), **values)
    return changed


STRATEGIES = {
    'nothing': [],
    'insertion': [(top, 'insert_members', nothing)],
    'first plan': [(top, 'first_plan', nothing)],
    'presolve': [(top, 'propagated', plain_case)],
    'decomposition': [(top, 'large', nothing)],
    'fallback plan': [(large.FallbackPlan, 'construct_after', nothing)],
    'column generation': [(large, 'is_applicable', no)],
    'coarse relaxation': [(top, 'relax', nothing)],
    'traffic plans': [
        (large, '_for_traffic', nothing),
        (all_hosts, 'traffic_start', lambda *_: (None, lambda cost: None))],
    'families apart': [(CohesiveKinds, 'of', whole_hosts)],
    'batches': [(first_plan, 'batches', nothing_at_all),
                (part_search, 'batches', nothing_at_all)],
    'bound without policies': [(part_bounds, 'relax_policies', nothing)],
    'bounds of parts': [(part_bounds, 'bound_parts', nothing)],
    'ruin and recreate': [(improve, 'ruin_and_recreate', nothing)],
    'neighbourhoods': [(top, 'improve', nothing)],
    'dominated hosts': [(search, 'needed_places', open_places)],
    'minimum of hosts': [(cells, 'counted_hosts', lambda *_: (0, 0))],
    'counted parts': [(cells, 'countable_scopes', lambda *_: {})],
    'class program': [(class_counts, 'assigned_counts', nothing)],
    'marginal costs': [
        (host_assignment, 'assign_by_marginal_cost', nothing)],
    'bounds of members': [(HostAggregation, 'bound_members', nothing)],
    'branches of domains': [(large, 'domain_branches', lambda *_: ())],
    'dominated patterns': [(Dominance, 'dominated', none_dominated)],
    'dual vertices': [(dual_vertices, '_inverses', no_vertices)],
    'further dives': [(diving, 'limits', with_limits(
        'column_generation', dives=0))],
    'further hosts': [(large, 'limits', with_limits(
        'phases', spare_hosts=(0.0,)))],
    'adaptive selection': [(AdaptiveSelection, 'learn', nothing)],
    'confinement': [(Confinement, 'allows', all_allowed)],
    'components': [(greedy, 'components', single_classes)],
    'learned order': [(greedy.Restarts, '_learn', nothing)],
    'fixed patterns': [(integer_counts, 'limits', with_limits(
        'traffic', fixed_patterns=0))],
    'branches of traffic': [(traffic_bound, 'limits', with_limits(
        'traffic', branches=0))],
    'policies of traffic': [(cell_variables, 'decomposition', with_limits(
        'decomposition', part_variables=0))],
}
"""Patches that disable each strategy: (module or class, name, replacement).
The first one disables nothing: its row shows that equal runs are equal."""


def main():
    arguments = parser().parse_args()
    load_backend('highs')
    for objective in grid_cases.OBJECTIVES:
        load_objective(objective)
    points = [*grid_cases.points(arguments.points, arguments.seed,
                                 arguments.family, arguments.most_hosts)]
    names = ['all', *(arguments.strategies or [
        *STRATEGIES, *(f'neighbourhood {name}' for name in NEIGHBOURHOODS)])]
    rows = {name: [] for name in names}
    for point in points:
        case = grid_cases.case(point)
        for name in names:
            rows[name].append(measured(
                case, point, name, arguments.time_limit))
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1))
    print_table(points, rows)


def measured(case, point, name, limit):
    """Cost of preferences, value, gap and seconds of effort of one answer."""
    settings = Settings()
    if name.startswith('neighbourhood '):
        omitted = name.removeprefix('neighbourhood ')
        settings = Settings(improvement=Improvement(neighbourhoods=tuple(
            each for each in NEIGHBOURHOODS if each != omitted)))
    with contextlib.ExitStack() as stack:
        for owner, attribute, function in STRATEGIES.get(name, ()):
            stack.enter_context(mock.patch.object(owner, attribute, function))
        clock = stack.enter_context(effort_clock())
        answer = top.solve(
            case.group, case.snapshot, objective=point.objective,
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


def print_table(points, rows):
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
    print(f'{len(points)} points')


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
                         help='to disable, one at a time; without it all, and '
                              'every neighbourhood')
    return options


def point_parser(description, **defaults):
    """The options that choose the points and the time limit."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument('--family', nargs='+', choices=FAMILIES,
                         default=list(FAMILIES))
    options.add_argument('--points', type=int, help='of each family')
    options.add_argument('--seed', type=int, default=0, help='of the points')
    options.add_argument('--most-hosts', type=int)
    options.add_argument('--time-limit', type=float,
                         help='of effort (effort_clock)')
    options.add_argument('--json', type=pathlib.Path,
                         help='file for all figures')
    options.set_defaults(**defaults)
    return options


if __name__ == '__main__':
    main()
