# SPDX-License-Identifier: Apache-2.0
"""The effect of each limit of the solver (``nova_holistic.solver.limits``).

Small points of each family of the grid (``grid_cases``) are solved with the
defaults, and the sections' limits that the solver reads are recorded. Then
each of these limits is multiplied by 1/4 and by 4, one at a time, and the
points that read it are solved again, or some of them, from those with the
least effort to those with the most. The table shows for each limit and factor
the number of points, on how many of them the plan or the bound was worse or
better than with the default, and the effort in relation to it.

Two answers are compared as in ``ablation.py``, and the time limit is one of
effort (``effort_clock``), so that equal runs have equal answers. A limit that
no point reads is in the table with 0 points.
"""

from collections import Counter
from dataclasses import fields, replace
import json
import sys

from ablation import compared, measured_answer, point_parser
from effort_clock import effort_clock
import grid_cases

from nova_holistic.objectives import load_objective
from nova_holistic.solver.limits import current
from nova_holistic.solver.milp.backend import load_backend
from nova_holistic.solver.settings import Settings
from nova_holistic.solver.solve import solve

FACTORS = (0.25, 4)
SHARES = ('share', 'noise', 'reserve', 'smoothing')
"""Parts of the names of limits that cannot exceed 1."""


def main():
    arguments = parser().parse_args()
    load_backend('highs')
    for objective in grid_cases.OBJECTIVES:
        load_objective(objective)
    points = grid_cases.points(arguments.points, arguments.seed,
                               arguments.family, arguments.most_hosts)
    base = []
    for number, point in enumerate(points):
        case = grid_cases.case(point)
        row, reads = recorded(case, point, arguments.time_limit)
        base.append((case, point, row, reads))
        print(f'# {number} {point}: {row}', flush=True)
    base.sort(key=lambda each: each[2]['seconds'])
    rows = {}
    print(f'{"limit":<45} {"factor":>6} {"points":>6} {"same":>6} '
          f'{"worse":>5} {"better":>6} {"bound worse":>11} {"better":>6} '
          f'{"effort":>6}')
    for name in arguments.limits or names():
        readers = [each[:3] for each in base if name in each[3]]
        for factor in FACTORS:
            rows[f'{name} {factor}'] = row = effect(
                name, factor, some(readers, arguments.readers),
                arguments.time_limit)
            print_row(name, factor, row)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1))


def names():
    """Of all limits, those of a section together."""
    defaults = current.Limits()
    return [f'{section.name}.{field.name}' for section in fields(defaults)
            for field in fields(getattr(defaults, section.name))]


def recorded(case, point, limit):
    """The answer with the defaults, and how often each limit was read."""
    reads = Counter()
    defaults = current.Limits()
    with current.using(replace(defaults, **{
            each.name: recording(each.name, getattr(defaults, each.name),
                                 reads) for each in fields(defaults)})):
        row = answered(case, point, limit, None)
    return row, reads


def recording(name, section, reads):
    """The same limits, as an object that counts how often each is read."""
    known = {each.name for each in fields(section)}

    class Recording(type(section)):
        def __getattribute__(self, field):
            # ``replace`` copies all fields, but does not use their values.
            reader = sys._getframe(1).f_globals['__name__']
            if field in known and reader != 'dataclasses':
                reads[f'{name}.{field}'] += 1
            return super().__getattribute__(field)

    return Recording(**{each: getattr(section, each) for each in known})


def some(readers, number):
    """At most this number of points, at equal distances in their order."""
    number = min(number, len(readers))
    return [readers[each * len(readers) // number] for each in range(number)]


def changed(name, factor):
    """All limits, of which one is multiplied."""
    limits = current.Limits()
    section, field = name.split('.')
    section_limits = getattr(limits, section)
    value = getattr(section_limits, field)
    if isinstance(value, tuple):
        value = tuple(each * factor for each in value)
    elif isinstance(value, int):
        value = max(1, round(value * factor))
    else:
        value *= factor
        if any(part in field for part in SHARES):
            value = min(value, 0.95)
    return replace(limits, **{section: replace(section_limits, **{
        field: value})})


def effect(name, factor, base, limit):
    """Compare each answer with the answer that the defaults lead to."""
    effects = Counter(points=0)
    before = after = 0.0
    for case, point, row in base:
        other = answered(case, point, limit, changed(name, factor))
        plan, bound = compared(row, other)
        effects.update({'points': 1, 'same': row == other,
                        f'plan {plan}': 1, f'bound {bound}': 1})
        before += row['seconds']
        after += other['seconds']
    return {**effects, 'effort': after / before if before else 1.0}


def answered(case, point, limit, limits):
    with effort_clock() as clock:
        answer = solve(
            case.group, case.snapshot, objective=point.objective,
            settings=Settings(limits=limits, time_limit=limit, timer=clock))
    return measured_answer(answer, clock.now)


def print_row(name, factor, row):
    print(f'{name:<45} {factor:>6} {row["points"]:>6} '
          f'{row.get("same", 0):>6} '
          f'{row.get("plan worse", 0):>5} {row.get("plan better", 0):>6} '
          f'{row.get("bound worse", 0):>11} {row.get("bound better", 0):>6} '
          f'{row["effort"]:>6.2f}', flush=True)


def parser():
    options = point_parser(__doc__, points=2, most_hosts=2_000, time_limit=2.0)
    options.add_argument('--limits', nargs='+',
                         help='limits to change; default: all')
    options.add_argument('--readers', type=int, default=8,
                         help='points for each limit, those of the least '
                              'effort')
    return options


if __name__ == '__main__':
    main()
