# SPDX-License-Identifier: Apache-2.0
"""What is said above the boxes: name, totals, key to colours and load."""

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from nova_holistic.picture import amounts, canvas
from nova_holistic.picture.lettering import fit
from nova_holistic.picture.lettering import width as text_width
from nova_holistic.picture.palette import Paint
from nova_holistic.picture.scale import Scale
from nova_holistic.picture.scene import Scene

_LINE = 26.0
_LETTERING = 12.0
_GAP = 22.0
_SWATCH = 18.0
_MOST_LABEL = 260.0


def summary(scene: Scene) -> str:
    """Totals, objective and unmet preferences, in one line."""
    plan = scene.plan
    used = len(set(plan.hosts().values()))
    said = [f'{_count(len(plan.placements), "member")} on {used} of '
            f'{_count(len(scene.hosts), "host")}',
            f'objective {plan.objective.name} {plan.objective.value:.5g} '
            f'({amounts.bound(plan.objective)})']
    if plan.preferences:
        unmet = sum(1 for p in plan.preferences if p.violations)
        met = len(plan.preferences) - unmet
        said.append(f'{met} of {_count(len(plan.preferences), "preference")} '
                    'met')
    disabled = sum(1 for view in scene.hosts if not view.host.enabled)
    if disabled:
        said.append(f'{_count(disabled, "host")} disabled')
    return ' · '.join(said)


def draw(parent: Element, scene: Scene, paints: Mapping[str, Paint],
         scale: Scale, width: float) -> float:
    """Everything above the boxes; returns its height in pixels."""
    canvas.text(parent, 'heading', 0, 20, scene.plan.group, 21, width)
    canvas.text(parent, 'muted', 0, 43, summary(scene), 12.5, width)
    bottom = _groups(parent, scene, paints, width, 74)
    return _load(parent, scene, scale, width, bottom) + 14


def _groups(parent: Element, scene: Scene, paints: Mapping[str, Paint],
            width: float, top: float) -> float:
    left = 0.0
    for path, count in scene.groups().items():
        name = fit(path or scene.plan.group, _MOST_LABEL, _LETTERING)
        label = f'{name}  {count}'
        room = _SWATCH + 7 + text_width(label, _LETTERING)
        if left and left + room > width:
            left, top = 0.0, top + _LINE
        entry = canvas.group(parent, 'legend', left, top)
        canvas.mark(entry, paints[path], 0, -13, _SWATCH, _SWATCH)
        canvas.text(entry, 'ink', _SWATCH + 7, 0, label, _LETTERING)
        left += room + _GAP
    return top + _LINE


def _load(parent: Element, scene: Scene, scale: Scale, width: float,
          top: float) -> float:
    key = canvas.group(parent, 'load-key', 0, top)
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
            canvas.rectangle(key, 'plate', left, down - 10, 13, 12, 2)
        canvas.rectangle(key, kind, left, down - 10, 13, 12, 2)
        canvas.text(key, 'ink', left + 19, down, label, _LETTERING)
        left += room + _GAP
    return top + down


def _count(number: int, noun: str) -> str:
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'
