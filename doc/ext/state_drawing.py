# SPDX-License-Identifier: Apache-2.0
"""Drawings and tables of the state machines in
``nova_holistic.table.states``."""

from collections.abc import Mapping, Sequence
import math

from nova_holistic.table import states

MACHINES = {'groups': states.GROUPS, 'members': states.MEMBERS}
WIDTH, HEIGHT = 760, 420
BOX_WIDTH, BOX_HEIGHT = 104, 30
APART = 7
"""Pixels from the middle line to an arrow that has a counterpart."""


def drawing(machine: states.Machine) -> str:
    """The machine as SVG: states on an ellipse, an arrow for each edge."""
    places = _places(machine)
    names: dict[tuple[str, str], list[str]] = {}
    for each in machine.transitions:
        names.setdefault((each.before, each.after), []).append(each.name)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
        f'{HEIGHT}" font-family="sans-serif" font-size="12">',
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" '
        'markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L10 5L0 10z" fill="#555"/></marker></defs>']
    parts += [_arrow(places[before], places[after], before, after,
                     ', '.join(found))
              for (before, after), found in names.items()]
    parts += [_box(x, y, state, state == machine.first)
              for state, (x, y) in places.items()]
    return '\n'.join([*parts, '</svg>', ''])


def table(machine: states.Machine) -> Sequence[str]:
    """The machine as the lines of a table in reStructuredText."""
    lines = ['.. list-table::', '   :header-rows: 1',
             '   :widths: 12 14 14 60', '', '   * - Transition', '     - From',
             '     - To', '     - Cause']
    for each in machine.transitions:
        lines += [f'   * - {each.name}', f'     - ``{each.before}``',
                  f'     - ``{each.after}``', f'     - {each.cause}']
    return lines


def _places(machine: states.Machine) -> Mapping[str, tuple[float, float]]:
    found = dict.fromkeys([machine.first, *(
        state for each in machine.transitions
        for state in (each.before, each.after))])
    step = 2 * math.pi / len(found)
    return {state: (
        WIDTH / 2 - (WIDTH / 2 - BOX_WIDTH * 0.6) * math.cos(number * step),
        HEIGHT / 2 - (HEIGHT / 2 - BOX_HEIGHT) * math.sin(number * step))
        for number, state in enumerate(found)}


def _box(x: float, y: float, state: str, first: bool) -> str:
    return (
        f'<rect x="{x - BOX_WIDTH / 2:.0f}" y="{y - BOX_HEIGHT / 2:.0f}" '
        f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" fill="#fff" '
        f'stroke="#222" stroke-width="{2.5 if first else 1}"/>'
        f'<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle">'
        f'{state}</text>')


def _arrow(start: tuple[float, float], end: tuple[float, float], before: str,
           after: str, label: str) -> str:
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    x1, y1, x2, y2 = (x1 - dy * APART, y1 + dx * APART,
                      x2 - dy * APART, y2 + dx * APART)
    # As far as the edge of a box.
    cut = min(BOX_WIDTH / 2 / max(abs(dx), 0.01),
              BOX_HEIGHT / 2 / max(abs(dy), 0.01)) + 2
    at = 0.36 * length
    return (
        f'<line data-edge="{before} {after}" x1="{x1 + dx * cut:.0f}" '
        f'y1="{y1 + dy * cut:.0f}" x2="{x2 - dx * cut:.0f}" '
        f'y2="{y2 - dy * cut:.0f}" stroke="#555" marker-end="url(#head)"/>'
        f'<text x="{x1 + dx * at - dy * 4:.0f}" '
        f'y="{y1 + dy * at + dx * 4:.0f}" text-anchor="middle" '
        f'font-size="10" fill="#0a4a7a">{label}</text>')
