# SPDX-License-Identifier: Apache-2.0
"""What a seed stands for: operations in their order, and faults between them.

This is pure: the same arguments always give the same sequence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
import random

from tests.chaos.documents import Shape, SHAPES

LENGTH = 200
"""Operations of one run."""

KINDS = {
    'create': 9, 'boot': 30, 'delete server': 9, 'migrate': 5,
    'live-migrate': 5, 'resize': 5, 'evacuate': 2, 'update': 5, 'release': 3,
    'replan': 2, 'delete group': 3, 'boot other server': 12,
    'delete other server': 6}
"""Kinds of operations, with their weights."""

FAULTS = {
    'kill compute': 3, 'pause compute': 1, 'kill engine': 3,
    'pause engine': 1, 'kill scheduler': 2, 'pause scheduler': 1,
    'kill API': 1, 'pause API': 1, 'kill RabbitMQ': 1, 'kill MariaDB': 1}
"""Faults of one run, with how often each occurs."""
SHORT_LENGTH = 67
"""Operations of one of the three short runs."""
SHORT_RUNS = {
    1: ('kill compute', 'pause engine', 'kill scheduler', 'kill RabbitMQ'),
    2: ('kill engine', 'pause scheduler', 'kill API'),
    3: ('pause compute', 'pause API', 'kill MariaDB')}
"""Faults of the short runs that CI makes, by their seeds. Together they have
every kind of operation and every kind of fault."""

FIRST = 5
"""Groups that exist before anything else happens."""
MISTAKE = 0.1
"""Share of the creates of servers whose member may have a server already."""


@dataclass(frozen=True)
class Operation:
    """
    :ivar group: number of the group that it is about, if it is about one
    :ivar member: path of the member; a server without a pointer has none
    :ivar count: servers of each counted member of a create or update
    :ivar dice: below 1; decides what the kind leaves open
    """

    number: int
    kind: str
    dice: float
    group: int | None = None
    member: str | None = None
    count: int | None = None


@dataclass(frozen=True)
class Fault:
    """
    :ivar kind: one of FAULTS
    :ivar begin: number of the operation with which it begins
    :ivar end: number of the operation with which it ends
    :ivar dice: below 1; chooses one of several processes
    """

    kind: str
    begin: int
    end: int
    dice: float


@dataclass
class _Group:
    """A group as the sequence knows it, whatever became of it."""

    shape: Shape
    count: int
    booted: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Sequence:
    """
    :ivar shapes: by the number of a group
    """

    seed: int
    operations: tuple[Operation, ...]
    faults: tuple[Fault, ...]
    shapes: tuple[Shape, ...]


def sequence(seed: int, length: int = LENGTH,
             faults: Mapping[str, int] = FAULTS) -> Sequence:
    """The operations and faults of a seed.

    :param faults: how often each kind of fault occurs
    """
    dice = random.Random(f'chaos {seed}')
    author = _Author(dice)
    operations = tuple(author.next(number) for number in range(length))
    return Sequence(seed, operations, _faults(dice, length, faults),
                    tuple(group.shape for group in author.groups))


def short_sequences() -> list[Sequence]:
    """Those of the short runs."""
    return [sequence(seed, SHORT_LENGTH, dict.fromkeys(faults, 1))
            for seed, faults in SHORT_RUNS.items()]


def _faults(dice: random.Random, length: int,
            faults: Mapping[str, int]) -> tuple[Fault, ...]:
    """One in each of as many equal parts of the sequence, in any order."""
    kinds = [kind for kind, times in faults.items() for _ in range(times)]
    dice.shuffle(kinds)
    part = (length - 2 * FIRST) / len(kinds)
    begins = [2 * FIRST + int((at + dice.random()) * part)
              for at in range(len(kinds))]
    return tuple(Fault(kind, begin, begin + dice.randint(3, 12),
                       dice.random()) for kind, begin in zip(kinds, begins))


class _Author:
    """Writes a sequence that makes sense as far as all operations succeed.

    :ivar groups: all that it has created
    """

    def __init__(self, dice: random.Random):
        self._dice = dice
        self.groups: list[_Group] = []
        self._alive: list[int] = []
        self._other_servers = 0

    def next(self, number: int) -> Operation:
        """The next operation."""
        if number < FIRST:
            return self._create(number)
        while True:
            kind, = self._dice.choices([*KINDS], [*KINDS.values()])
            found = self._write(number, kind)
            if found is not None:
                return found

    def _write(self, number: int, kind: str) -> Operation | None:
        """None if there is nothing that the operation could be about."""
        if kind == 'create':
            return self._create(number)
        if kind == 'boot other server':
            self._other_servers += 1
            return self._plain(number, kind)
        if kind == 'delete other server':
            if not self._other_servers:
                return None
            self._other_servers -= 1
            return self._plain(number, kind)
        if not self._alive:
            return None
        at = self._dice.choice(self._alive)
        if kind in ('update', 'release', 'replan', 'delete group'):
            return self._with_group(number, kind, at)
        return self._with_member(number, kind, at)

    def _plain(self, number: int, kind: str, **about) -> Operation:
        return Operation(number, kind, self._dice.random(), **about)

    def _create(self, number: int) -> Operation:
        shape = self._dice.choice(SHAPES)
        count = self._dice.randint(2, 4)
        self._alive.append(len(self.groups))
        self.groups.append(_Group(shape, count))
        return self._plain(number, 'create', group=self._alive[-1],
                           count=count)

    def _with_group(self, number: int, kind: str, at: int) -> Operation:
        group = self.groups[at]
        if kind == 'delete group':
            self._alive.remove(at)
        elif kind == 'update':
            group.count = self._dice.choice(
                [count for count in range(2, 6) if count != group.count])
            group.booted.intersection_update(group.shape.paths(group.count))
        return self._plain(number, kind, group=at, count=group.count)

    def _with_member(self, number: int, kind: str,
                     at: int) -> Operation | None:
        group = self.groups[at]
        paths = group.shape.paths(group.count)
        if kind != 'boot':
            paths = sorted(group.booted)
        elif self._dice.random() > MISTAKE:
            paths = [path for path in paths if path not in group.booted]
        if not paths:
            return None
        path = self._dice.choice(paths)
        if kind == 'boot':
            group.booted.add(path)
        elif kind == 'delete server':
            group.booted.discard(path)
        return self._plain(number, kind, group=at, member=path)
