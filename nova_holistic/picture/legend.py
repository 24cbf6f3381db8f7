# SPDX-License-Identifier: Apache-2.0
"""The text above the boxes: name, totals, and the legend of colours and
load."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from nova_holistic.picture import amounts, svg_elements
from nova_holistic.picture.svg_elements import Area, TextLine
from nova_holistic.picture.hosts.scale import Scale
from nova_holistic.picture.palette import Paint
from nova_holistic.picture.scene import Scene
from nova_holistic.picture.text_fitting import fit, wrap
from nova_holistic.picture.text_fitting import width as text_width

_LINE = 26.0
_LETTERING = 12.0
_GAP = 22.0
_SWATCH = 18.0
_SUMMARY = 12.5
_SUMMARY_LINE = 18.0
_SEPARATOR = ' · '
_MOST_VIOLATIONS = 8


def summary(scene: Scene) -> str:
    """Totals, objective and unmet preferences, in one line."""
    return _SEPARATOR.join(_summary(scene))


def _summary(scene: Scene) -> list[str]:
    plan = scene.plan
    used = len(set(plan.hosts().values()))
    hosts = amounts.counted(len(scene.hosts), 'host')
    said = [f'{amounts.counted(len(plan.placements), "member")} on {used} of '
            f'{hosts}',
            f'objective {plan.objective.name} {plan.objective.value:.5g} '
            f'({amounts.bound(plan.objective)})']
    if plan.preferences:
        unmet = sum(1 for p in plan.preferences if p.violations)
        met = len(plan.preferences) - unmet
        preferences = amounts.counted(len(plan.preferences), 'preference')
        said.append(f'{met} of {preferences} met')
    disabled = sum(1 for view in scene.hosts if not view.host.enabled)
    if disabled:
        said.append(f'{amounts.counted(disabled, "host")} disabled')
    return said


def draw(parent: Element, scene: Scene, paints: Mapping[str, Paint],
         scale: Scale, width: float) -> float:
    """Draw the text above the boxes; returns its height in pixels."""
    svg_elements.text(
        parent, 'heading', 0, 20, TextLine(scene.plan.group, 21, width))
    bottom = 43.0
    for line in wrap(_summary(scene), _SEPARATOR, width, _SUMMARY):
        svg_elements.text(
            parent, 'muted', 0, bottom, TextLine(line, _SUMMARY, width))
        bottom += _SUMMARY_LINE
    bottom = _violations(parent, scene, width, bottom)
    bottom = _groups(parent, scene, paints, width, bottom + 13)
    return _load(parent, scene, scale, width, bottom) + 14


def _violations(parent: Element, scene: Scene, width: float,
                top: float) -> float:
    lines = [f'violated: {each}'
             for each in scene.violations[:_MOST_VIOLATIONS]]
    hidden = len(scene.violations) - len(lines)
    if hidden:
        lines.append(f'and {amounts.counted(hidden, "more violation")}')
    for line in lines:
        # Breaking at the words shows each message in full.
        for part in wrap(line.split(' '), ' ', 0.9 * width, _SUMMARY):
            svg_elements.text(
                parent, 'violation', 0, top, TextLine(part, _SUMMARY, width))
            top += _SUMMARY_LINE
    return top


def _groups(parent: Element, scene: Scene, paints: Mapping[str, Paint],
            width: float, top: float) -> float:
    left = 0.0
    for path, count in scene.groups().items():
        number = f'  {count}'
        name = fit(path or scene.plan.group, width - _SWATCH - 7 - text_width(
            number, _LETTERING), _LETTERING)
        label = name + number
        room = _SWATCH + 7 + text_width(label, _LETTERING)
        if left and left + room > width:
            left, top = 0.0, top + _LINE
        entry = svg_elements.group(parent, 'legend', left, top)
        svg_elements.mark(entry, paints[path],
                          Area(0, -13, _SWATCH, _SWATCH))
        svg_elements.text(
            entry, 'ink', _SWATCH + 7, 0, TextLine(label, _LETTERING))
        left += room + _GAP
    return top + _LINE


def _load(parent: Element, scene: Scene, scale: Scale, width: float,
          top: float) -> float:
    key = svg_elements.group(parent, 'load-key', 0, top)
    left = 0.0
    entries = [('before', 'used before')]
    if scene.complete:
        entries.append(('planned', 'added by this plan'))
    entries.append(('track', f'free{scale.bar_means}'))
    if any(not view.host.enabled for view in scene.hosts):
        entries.append(('hatched', 'disabled'))
    down = 0.0
    for kind, label in entries:
        room = 19 + text_width(label, _LETTERING)
        if left + room > width:
            left, down = 0.0, down + _LINE
        if kind == 'hatched':
            svg_elements.rectangle(
                key, 'plate', Area(left, down - 10, 13, 12), 2)
        svg_elements.rectangle(key, kind, Area(left, down - 10, 13, 12), 2)
        svg_elements.text(
            key, 'ink', left + 19, down, TextLine(label, _LETTERING))
        left += room + _GAP
    return top + down
