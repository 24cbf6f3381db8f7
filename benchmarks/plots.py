# SPDX-License-Identifier: Apache-2.0
"""Plots of the planner's figures: time and gap over hosts, and the share of
groups that nearly full clouds can place, jointly and one by one.

The program runs planner.py and planted.py, or reads their earlier figures.
"""

import argparse
from dataclasses import dataclass
import functools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import matplotlib
from matplotlib import pyplot
import numpy as np

HERE = pathlib.Path(__file__).parent
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
MEMBERS = 1_000
TENTH = 10
"""Hosts for each member, where groups grow with their clouds."""

OBJECTIVES = ('fewest-hosts', 'spread', 'stack')
GARDENS = (60, 120)
FULL = (60, 70, 80, 85, 90, 93, 95, 97, 99)
PLANTED_SECONDS = 4

GOOD_GAP = 1.0
GOOD_EXPONENT = 1.1

# The colour-blind safe palette of Okabe and Ito.
STYLES = (('#0072B2', 'o'), ('#D55E00', 's'), ('#009E73', '^'),
          ('#CC79A7', 'D'), ('#000000', 'v'))


def sizes():
    """Hosts and members of each measurement of growth."""
    fixed = {(hosts, MEMBERS) for hosts in SIZES}
    return sorted(fixed | {(hosts, hosts // TENTH) for hosts in SIZES})


def measure(place, seeds, planted_seeds, utilisation):
    """Measure each size in a separate process, which shows its memory.

    Sizes run one after another, because they are timed. Planted cases are only
    counted, so two of them run in parallel.
    """
    for hosts, members in sizes():
        _run(_started(
            'planner.py', place / f'planner-{hosts}-{members}.json',
            '--hosts', hosts, '--members', members, '--seeds', seeds,
            '--utilisation', utilisation, '--time-limit', 10,
            '--objective', *OBJECTIVES))
    _run(*(_started(
        'planted.py', place / f'planted-{number}.json', '--hosts', *GARDENS,
        '--utilisation', *chunk, '--seeds', planted_seeds,
        '--time-limit', PLANTED_SECONDS)
        for number, chunk in enumerate((FULL[::2], FULL[1::2]))))


def _started(program, file, *words):
    return subprocess.Popen([sys.executable, HERE / program, '--json', file,
                             *map(str, words)])


def _run(*processes):
    """To the end of all of them."""
    for code in [each.wait() for each in processes]:
        if code:
            raise SystemExit(code)


def read(place, pattern):
    """Rows of all files of that name."""
    return [row for file in sorted(place.glob(pattern))
            for row in json.loads(file.read_text())]


@dataclass(frozen=True, slots=True)
class Line:
    """One objective over hosts; each point is the runs of one size."""

    hosts: list[int]
    runs: list[list[float]]

    @classmethod
    def of(cls, rows, objective, key, unit=1):
        chosen = sorted((row for row in rows if row['objective'] == objective),
                        key=lambda row: row['hosts'])
        return cls([row['hosts'] for row in chosen],
                   [[unit * each for each in row[key]] for row in chosen])

    def middle(self):
        return [statistics.median(each) for each in self.runs]

    def reach(self):
        """How far the runs are below and above their median."""
        return np.array([[middle - min(each), max(each) - middle]
                         for middle, each in zip(self.middle(), self.runs)]).T

    def exponent(self):
        """p, where time is nearest to a constant x hosts ** p."""
        return np.polyfit(np.log(self.hosts), np.log(self.middle()), 1)[0]


def _columns(rows):
    """Groups of one size, and groups that grow with their clouds."""
    return (
        (f'{MEMBERS:,} members',
         [row for row in rows if row['members'] == MEMBERS]),
        (f'one member for every {TENTH} hosts',
         [row for row in rows if row['members'] * TENTH == row['hosts']]))


def tell(rows):
    """The exponents and the medians that they are fitted to, in words."""
    for title, column in _columns(rows):
        for objective in OBJECTIVES:
            line = Line.of(column, objective, 'seconds')
            if len(line.hosts) > 1:
                figures = ', '.join(f'{hosts:,}: {seconds:.2f} s' for
                                    hosts, seconds in zip(line.hosts,
                                                          line.middle()))
                print(f'{title}, {objective}: hosts ** '
                      f'{line.exponent():.2f}  ({figures})')


def growth(rows):
    """Above seconds, below gaps; at the left for groups of one size, at the
    right for groups that grow with their clouds."""
    figure, axes = pyplot.subplots(
        2, 2, sharex=True, sharey='row', figsize=(11, 8),
        layout='constrained')
    for (title, column), upper, lower in zip(_columns(rows), *axes):
        upper.set_title(title)
        for number, objective in enumerate(OBJECTIVES):
            seconds = Line.of(column, objective, 'seconds')
            gaps = Line.of(column, objective, 'gap', 100)
            if not seconds.hosts:
                continue
            label = objective + (f': hosts$^{{{seconds.exponent():.2f}}}$'
                                 if len(seconds.hosts) > 1 else '')
            _line(upper, seconds, number, label)
            _line(lower, gaps, number, objective)
        upper.legend(title=f'fitted; aimed at: hosts$^{{{GOOD_EXPONENT}}}$',
                     loc='upper left')
        lower.axhline(GOOD_GAP, color='0.4', linestyle=':', label=(
            f'aimed at: {GOOD_GAP:g} %, or one host of fewest-hosts'))
        lower.legend(loc='upper right')
    _growth_axes(axes)
    runs = max(len(row['seconds']) for row in rows)
    full = sorted({row['utilisation'] for row in rows})
    figure.suptitle(
        f'From a snapshot in memory to a checked plan: median and range of '
        f'{runs} cloud{"s" if runs > 1 else ""}, in use to '
        f'{" or ".join(map(str, full))} %')
    return figure


def _line(axes, line, number, label):
    colour, marker = STYLES[number]
    # Side by side, so that ranges do not hide each other.
    shifted = np.array(line.hosts) * (1 + 0.05 * (number - 1))
    axes.errorbar(shifted, line.middle(), yerr=line.reach(), label=label,
                  color=colour, marker=marker, capsize=3, linewidth=1.5)


def _growth_axes(axes):
    for each in axes.flat:
        each.set_xscale('log')
        each.set_xticks(SIZES, [f'{hosts:,}' for hosts in SIZES])
        each.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        each.grid(alpha=0.3)
    for each in axes[0]:
        each.set_yscale('log')
        each.yaxis.set_major_formatter('{x:g}')
        # Room for the legend.
        each.set_ylim(top=3 * each.get_ylim()[1])
    for each in axes[1]:
        # A gap may be 0: below a tenth of a percent the scale is even.
        each.set_yscale('symlog', linthresh=0.1)
        each.set_ylim(-0.02, 1000)
        each.set_yticks((0, 0.1, 1, 10, 100))
        each.yaxis.set_major_formatter('{x:g}')
        each.set_xlabel('hosts')
    axes[0][0].set_ylabel('seconds')
    axes[1][0].set_ylabel('proven gap, % of the value')


def success(rows):
    """Share of groups placed over how full the clouds are."""
    sizes_here = sorted({row['hosts'] for row in rows})
    figure, axes = pyplot.subplots(
        1, len(sizes_here), sharey=True, squeeze=False, figsize=(11, 5),
        layout='constrained')
    for axis, hosts in zip(axes[0], sizes_here):
        chosen = sorted((row for row in rows if row['hosts'] == hosts),
                        key=lambda row: row['utilisation'])
        for number, (key, how) in enumerate((
                ('joint', 'jointly'), ('one_by_one', 'one by one'))):
            colour, marker = STYLES[number]
            axis.errorbar(
                [row['utilisation'] + 0.2 * number - 0.1 for row in chosen],
                [row[key] for row in chosen], label=how,
                yerr=np.array([
                    _interval(row[key], row['seeds']) for row in chosen]).T,
                color=colour, marker=marker, elinewidth=1, capsize=3)
        most = max(row['members'] for row in chosen)
        axis.set_title(f'{hosts} hosts, up to {most} members')
        axis.set_xlabel('utilisation of the cloud with the group in it, %')
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel('groups placed, %')
    axes[0][0].set_ylim(-4, 104)
    axes[0][0].legend(loc='lower left')
    figure.suptitle(
        f'Groups known to have a plan: {max(row["seeds"] for row in rows)} '
        f'clouds a point, 95 % intervals')
    return figure


def _interval(percent, number, z=1.96):
    """Below and above: Wilson's score interval of a share."""
    share, weight = percent / 100, z * z / number
    middle = (share + weight / 2) / (1 + weight)
    half = z / (1 + weight) * math.sqrt(
        share * (1 - share) / number + weight / number / 4)
    return (max(0.0, 100 * (share - middle + half)),
            max(0.0, 100 * (middle + half - share)))


def draw(place, into, formats):
    matplotlib.use('agg')
    # Files of equal figures are equal.
    matplotlib.rcParams['svg.hashsalt'] = 'planner'
    for name, pattern, make in (('growth', 'planner-*.json', growth),
                                ('success', 'planted*.json', success)):
        rows = read(place, pattern)
        if not rows:
            continue
        if make is growth:
            tell(rows)
        figure = make(rows)
        for kind in formats:
            figure.savefig(into / f'{name}.{kind}', dpi=110, metadata={
                'Date': None} if kind == 'svg' else None)
            print(into / f'{name}.{kind}')
        pyplot.close(figure)


def main():
    arguments = _parser().parse_args()
    make = functools.partial(
        measure, seeds=arguments.seeds, planted_seeds=arguments.planted_seeds,
        utilisation=arguments.utilisation)
    with tempfile.TemporaryDirectory() as place:
        measured = pathlib.Path(arguments.keep or arguments.source or place)
        if not arguments.source:
            measured.mkdir(parents=True, exist_ok=True)
            make(measured)
        draw(measured, arguments.into, arguments.format)


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument('--from', dest='source', metavar='DIR',
                       help='read the figures from there instead of measuring')
    where.add_argument('--keep', metavar='DIR',
                       help='store the measured figures there, for --from')
    parser.add_argument('--into', type=pathlib.Path, default=HERE,
                        metavar='DIR', help='directory of the plots')
    parser.add_argument('--format', nargs='+', default=['png'],
                        choices=['png', 'svg'])
    parser.add_argument('--seeds', type=int, default=5,
                        help='clouds of each size')
    parser.add_argument('--planted-seeds', type=int, default=20,
                        help='clouds with a planted plan for each point')
    parser.add_argument('--utilisation', type=int, default=90,
                        help='usage of the clouds of each size, in percent')
    return parser


if __name__ == '__main__':
    main()
