# SPDX-License-Identifier: Apache-2.0
"""Reports of runs as text."""

from collections import Counter
from collections.abc import Iterable, Sequence

from tests.chaos.operations import KINDS
from tests.chaos.outcomes import Outcome
from tests.chaos.run import Report

COLUMNS = ('seed', *Outcome, 'faults', 'repairs', 'stuck', 'misallocated',
           'restarts', 'left by Nova', 'violations', 'seconds',
           'until settled')


def row(report: Report) -> list[str]:
    """A row of the table of seeds, in the order of COLUMNS."""
    return [str(each) for each in (
        report.seed, *(report.total(outcome) for outcome in Outcome),
        report.faults.total(), report.repairs.total(), report.stuck,
        report.misallocated, report.restarts, report.leftovers,
        len(report.violations),
        *(round(part) for part in report.seconds))]


def seeds(reports: Sequence[Report]) -> str:
    """The table of seeds."""
    return _table(COLUMNS, map(row, reports))


def summary(reports: Sequence[Report]) -> str:
    """Tables of seeds, of operations, of faults and of repairs."""
    outcomes = _sum(report.outcomes for report in reports)
    operations = [[kind, *(str(outcomes[kind, outcome])
                           for outcome in Outcome)] for kind in KINDS]
    counts = [_table((title, 'times'), [
        [str(name), str(count)] for name, count in sorted(counter.items())])
        for title, counter in (
            ('fault', _sum(report.faults for report in reports)),
            ('repair', _sum(report.repairs for report in reports)))]
    return '\n\n'.join([
        seeds(reports),
        _table(('operation', *Outcome), operations), *counts])


def _sum(counters: Iterable[Counter]) -> Counter:
    total: Counter = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(heads), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return '\n'.join('  '.join(
        [cells[0].ljust(widths[0]),
         *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:]))])
        for cells in lines)
