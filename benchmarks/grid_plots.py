# SPDX-License-Identifier: Apache-2.0
"""Plots of the grid: time, gap, unmet preferences and the share placed."""

import matplotlib
from matplotlib import pyplot

STYLES = {'plain': ('#0072B2', 'o'), 'related': ('#D55E00', 's'),
          'network': ('#009E73', '^'), 'mixed': ('#CC79A7', 'D'),
          'planted': ('#000000', 'v'), 'different': ('#E69F00', 'P')}


def draw(rows, file):
    """One panel for each figure, over the number of hosts."""
    matplotlib.use('agg')
    figure, ((seconds, gap), (unmet, placed)) = pyplot.subplots(
        2, 2, figsize=(12, 9), layout='constrained')
    for family, (colour, marker) in STYLES.items():
        family_rows = [row for row in rows if row['family'] == family]
        style = {'color': colour, 'marker': marker, 'linestyle': 'none',
                 'label': family, 'alpha': 0.7}
        _points(seconds, family_rows, 'seconds', 1, style)
        _points(gap, family_rows, 'gap', 100, style)
        _points(unmet, family_rows, 'unmet', 1, style)
    seconds.set(ylabel='seconds', yscale='log')
    gap.set_yscale('symlog', linthresh=0.1)
    gap.set(ylabel='proven gap, % of the value')
    unmet.set_yscale('symlog', linthresh=1)
    unmet.set(ylabel='weighted violations of preferences')
    for each in (seconds, gap, unmet):
        each.set(xlabel='hosts', xscale='log')
        each.grid(alpha=0.3)
    seconds.legend()
    _shares(placed, rows)
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def _points(axes, rows, key, unit, style):
    complete = [row for row in rows if row[key] is not None]
    axes.plot([row['hosts'] for row in complete],
              [unit * row[key] for row in complete], **style)


def _shares(axes, rows):
    names = [family for family in STYLES
             if any(row['family'] == family for row in rows)]
    shares = []
    for family in names:
        family_rows = [row for row in rows if row['family'] == family]
        shares.append(100 * sum(
            row['answer'] == 'Plan' for row in family_rows) / len(family_rows))
    axes.bar(names, shares, color=[STYLES[name][0] for name in names])
    axes.set(ylabel='groups placed, %', ylim=(0, 104))
