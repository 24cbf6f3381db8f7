# SPDX-License-Identifier: Apache-2.0
"""Operations on the placement table. Their arguments are drawn from the rows
that engines and schedulers have read, now or earlier."""

from dataclasses import dataclass
from typing import Any
import uuid

from tests.unit.table.model_rows import PATHS

ENGINES = ['engine-1', 'engine-2']
STALE = 30
"""Seconds without a heartbeat after which an engine loses its task."""

STATUSES = ['planning', 'planned', 'building', 'complete', 'unplaceable',
            'released', 'error']

CHANGES = [
    # A change of a member: its name, the state before, the state after, and
    # the other values that are written.
    ('undo', 'claimed', 'planned', {'held': True, 'instance': None}),
    ('refuse', 'claimed', 'lost', {'held': False, 'instance': None}),
    ('build', 'claimed', 'built', {'held': False}),
    ('fail', 'claimed', 'failed', {}),
    ('build', 'failed', 'built', {'held': False}),
    ('reclaim', 'built', 'claimed', {'held': True}),
    ('reclaim', 'failed', 'claimed', {'held': True}),
    ('lose', 'planned', 'lost', {'held': False}),
]


@dataclass(frozen=True)
class Operation:
    """A method of both ``Model`` and ``Product``, with its arguments."""

    name: str
    arguments: dict[str, Any]

    def do(self, actor):
        return getattr(actor, self.name)(**self.arguments)


def new_uuid():
    return str(uuid.uuid4())


class Choice:
    """Draws operations. ``draw`` is a ``random.Random``.

    :ivar groups: UUIDs of groups that were created
    :ivar readings: the reads of all groups: rows by UUID, the newest first
    :ivar turns: (group, engine) for every task that an engine has taken
    """

    def __init__(self):
        self.groups = []
        self.readings = []
        self.turns = []
        self._next = []

    def planned_group(self, lease):
        """Operations that plan a group of all members."""
        group, engine = new_uuid(), ENGINES[0]
        self.groups.append(group)
        self.turns.append((group, engine))
        turn = {'uuid': group, 'engine': engine}
        yield Operation('create', {'uuid': group, 'lease': lease})
        yield Operation('take', {**turn, 'stale': STALE})
        yield Operation('write', {
            **turn, 'holds': {path: new_uuid() for path in PATHS}})
        yield Operation('finish', {**turn, 'status': 'planned'})

    def operation(self, draw):
        """One operation; None if there is nothing to do it with."""
        if len(self.groups) < 3 and not draw.randint(0, 9):
            return self._begin(draw, self._creation)
        if self._next and draw.randint(0, 3):
            return self._next.pop(0)(draw)
        group = draw.choice(self.groups)
        # Sometimes an outdated read is used.
        age = draw.choice([0, 0, 0, 1, 2])
        rows = self.readings[min(age, len(self.readings) - 1)].get(group, ())
        kind = draw.choice([
            self._of_group, self._of_task, self._of_turn,
            self._of_member, self._of_member, self._of_member])
        return kind(draw, group, rows)

    def _begin(self, draw, plan):
        """The first of several operations. The others follow it, perhaps after
        other operations, or never, as if the engine had been killed."""
        first, *self._next = plan(draw)
        return first(draw)

    def _creation(self, draw):
        group = new_uuid()
        self.groups.append(group)
        lease = draw.choice([None, 60])
        return [
            lambda draw: Operation('create', {'uuid': group, 'lease': lease}),
            self._taking(draw, group),
            lambda draw: self._turn(draw, 'write'),
            lambda draw: self._turn(draw, 'finish')]

    def _task(self, draw):
        """The operations of an engine on a task."""
        group = draw.choice(self.groups)
        task = draw.choice(['updating', 'updating', 'replanning'])
        revision = draw.choice([1, 1, 2, 3])
        steps = (['vacate', 'occupy'], ['vacate', 'revise'], ['revise'], [],
                 ['write'])
        return [
            lambda draw: Operation('request', {
                'uuid': group, 'revision': revision, 'task': task,
                'statuses': STATUSES[1:]}),
            self._taking(draw, group),
            *[lambda draw, name=name: self._turn(draw, name)
              for name in draw.choice(steps)],
            lambda draw: self._turn(draw, 'finish')]

    def _taking(self, draw, group):
        engine = draw.choice(ENGINES)

        def take(draw):
            self.turns.append((group, engine))
            return Operation('take', {
                'uuid': group, 'engine': engine, 'stale': STALE})

        return take

    def _of_group(self, draw, group, rows):
        name = draw.choice([
            *['settle'] * 6, 'expire', 'expire', 'extend', 'purge', 'purge',
            'delete'])
        arguments = {'uuid': group}
        if name == 'extend':
            arguments['lease'] = draw.choice([0, 60, 600])
        return Operation(name, arguments)

    def _of_task(self, draw, group, rows):
        return self._begin(draw, self._task)

    def _of_turn(self, draw, group, rows):
        """The operations of an engine that has the task, or had it before."""
        return self._turn(draw, draw.choice([
            'write', 'finish', 'revise', 'vacate', 'occupy', 'return_work']))

    def _turn(self, draw, name):
        group, engine = draw.choice(
            [*self.turns[-2:], self.turns[-1]])
        rows = self.readings[0].get(group, ())
        arguments = {'uuid': group, 'engine': engine}
        if name == 'write':
            arguments['holds'] = self._some_holds(draw, PATHS)
        elif name == 'finish':
            arguments['status'] = draw.choice(
                ['planned', 'planned', 'unplaceable', 'error', None, None])
        elif name == 'revise':
            arguments.update(self._revision(draw, rows))
        elif name == 'vacate':
            arguments['rows'] = self._some(draw, [
                row for row in rows if row.state == 'planned'])
        elif name == 'occupy':
            arguments['holds'] = [row.hold for row in self._some(draw, rows)]
        return Operation(name, arguments)

    def _revision(self, draw, rows):
        removed = self._some(draw, rows, most=1)
        renewed = self._some(draw, [
            row for row in rows if row not in removed and row.state in (
                'planned', 'lost', 'failed', 'released')])
        paths_in_use = {row.member.path for row in rows}
        return {'renewed': [(row, new_uuid()) for row in renewed],
                'removed': removed, 'added': self._some_holds(
                    draw, [p for p in PATHS if p not in paths_in_use])}

    def _of_member(self, draw, group, rows):
        kind = draw.choice([
            self._claim, self._claim, self._change, self._change,
            self._change, self._release, self._replan, self._end])
        return kind(draw, group, rows)

    def _claim(self, draw, group, rows):
        owners = [row.instance_uuid for row in rows if row.instance_uuid]
        again = owners and not draw.randint(0, 4)
        seen = [row for row in rows if row.state == 'planned'
                and row.member.path == 'web'][:draw.randint(0, 1)]
        path = 'web' if seen else draw.choice(['web', 'node'])
        return Operation('claim', {
            'uuid': group, 'path': path, 'seen': seen,
            'instance': owners[0] if again else new_uuid()})

    def _change(self, draw, group, rows):
        possible = [(row, to, changes) for row in rows
                    for _, before, to, changes in CHANGES
                    if row.state == before]
        if not possible:
            return None
        row, to, changes = draw.choice(possible)
        return Operation('change', {'row': row, 'to': to, **changes})

    def _release(self, draw, group, rows):
        return Operation('release', {
            'holds': [row.hold for row in self._some(draw, rows)],
            'with_servers': draw.choice([False, True])})

    def _replan(self, draw, group, rows):
        name = draw.choice(['offer', 'accept', 'forget'])
        found = [row for row in rows if row.state == 'lost'
                 or name == 'forget' and row.state == 'released']
        chosen = self._some(draw, found)
        if not chosen:
            return None
        if name != 'offer':
            return Operation(name, {'holds': [row.hold for row in chosen]})
        holds = [new_uuid() for _ in chosen]
        self._next = [lambda draw: Operation('accept', {'holds': holds})]
        return Operation('offer', {'rows': chosen, 'holds': holds})

    def _end(self, draw, group, rows):
        """The server of a member is deleted, and an engine has begun to handle
        this."""
        claimed = [row for row in rows if row.state == 'claimed']
        return Operation('release_unleased', {
            'row': draw.choice(claimed)}) if claimed else None

    @staticmethod
    def _some(draw, rows, most=4):
        if not rows:
            return []
        mask = draw.randint(1, 2 ** len(rows) - 1)
        return [row for number, row in enumerate(rows)
                if mask >> number & 1][:most]

    @staticmethod
    def _some_holds(draw, paths):
        """A new hold for each of some paths, in the order of the group."""
        mask = draw.randint(0, 15)
        return {path: new_uuid() for number, path in enumerate(PATHS)
                if path in paths and not mask >> number & 1}
