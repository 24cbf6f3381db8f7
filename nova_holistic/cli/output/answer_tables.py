# SPDX-License-Identifier: Apache-2.0
"""An answer in words and tables; names are printed literally, never as
markup."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.picture import amounts
from nova_holistic.picture.scene import HostView, Load, group_of, scene
from nova_holistic.picture.text_fitting import printable


def plan(console: Console, answer: Plan, group: Group,
         snapshot: Snapshot) -> None:
    """Members with their hosts, then the values of the whole plan."""
    _line(console, _summary(answer, snapshot), 'bold')
    _table(console, ('Group', 'Member', 'Host', 'Location'), (
        (group_of(p.member) or answer.group, p.member, p.host,
         '/'.join(p.location)) for p in answer.placements))
    if answer.preferences:
        rules = [rule for scope in group.scopes()
                 for rule in scope.group.rules if not rule.hard]
        _table(console, ('Preference', 'At', 'Weight', 'Violations'), (
            (rule.summary, p.at or answer.group, f'{rule.weight:g}',
             str(p.violations))
            for rule, p in zip(rules, answer.preferences, strict=True)))
    cost = answer.preference_cost
    if cost is not None:
        console.print()
        _line(console, f'preferences cost {cost.value:.5g}, bound '
                       f'{cost.bound:.5g}, gap {cost.gap:.1%}')
    if answer.warnings:
        lines(console, (
            'warning: '
            + ': '.join(filter(None, (warning.at, warning.message)))
            for warning in answer.warnings))
    _load(console, scene(snapshot, answer, group).hosts)
    console.print()
    _line(console, 'seconds: ' + ', '.join(
        f'{step} {value:.2f}' for step, value in answer.seconds.items()),
        'dim')


def lines(console: Console, texts: Iterable[str]) -> None:
    """A blank line before text that follows other output."""
    console.print()
    for line in texts:
        _line(console, line)


def unplaceable(console: Console, answer: Unplaceable, group: Group) -> None:
    """The reasons why no plan exists."""
    _line(console, f'{group.name} cannot be placed:', 'bold')
    for reason in answer.reasons:
        _line(console, f'  {reason.at}: {reason.message}' if reason.at
              else f'  {reason.message}')
    if not answer.minimal:
        _line(console, '  (it is not proven that all of these reasons are '
                       'necessary)')


def unknown(console: Console, answer: Unknown, group: Group) -> None:
    """The message of a search that ended without a plan or a proof."""
    _line(console, f'{group.name}: {answer.message}', 'bold')


def _summary(answer: Plan, snapshot: Snapshot) -> str:
    cost = answer.objective
    placed = amounts.counted(len(answer.placements), 'member')
    hosts = amounts.counted(len(snapshot.hosts), 'host')
    return (f'{answer.group}: {placed} on '
            f'{len(set(answer.hosts().values()))} of {hosts}; objective '
            f'{cost.name} {cost.value:.5g}, {amounts.bound(cost)}')


def _load(console: Console, views: Sequence[HostView]) -> None:
    """Load of the hosts that the plan uses."""
    used = [view for view in views if view.members]
    classes = list(dict.fromkeys(
        load.resource_class for view in used for load in view.loads))
    rows = []
    for view in used:
        loads = {load.resource_class: load for load in view.loads}
        rows.append((view.host.name, str(len(view.members)), *(
            _load_text(loads[name]) if name in loads else '-'
            for name in classes)))
    _table(console, ('Host', 'Members', *classes), rows)


def _load_text(load: Load) -> str:
    """Used capacity, and the share of the plan in it."""
    usage = f'{load.before + load.planned}/{load.capacity}'
    return f'{usage} (+{load.planned})' if load.planned else usage


def _table(console: Console, heads: Sequence[str],
           rows: Iterable[Sequence[str]]) -> None:
    shape = box.SIMPLE_HEAD if console.is_terminal else None
    table = Table(box=shape, pad_edge=False, show_edge=False)
    for head in heads:
        table.add_column(head, overflow='fold')
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print()
    console.print(table)


def _line(console: Console, text: str, style: str = '') -> None:
    console.print(Text(printable(text), style=style), soft_wrap=True)
