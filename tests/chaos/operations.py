# SPDX-License-Identifier: Apache-2.0
"""The sequence of operations and faults of a seed.

The functions are pure: the same arguments always give the same sequence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
import random

from tests.chaos.documents import Shape, SHAPES

LENGTH = 200
"""Number of operations of one run."""

KINDS = {
    'create': 9, 'boot': 30, 'delete server': 9, 'migrate': 5,
    'live-migrate': 5, 'resize': 5, 'evacuate': 2, 'update': 5, 'release': 3,
    'replan': 2, 'delete group': 3, 'boot other server': 12,
    'delete other server': 6}
"""The kinds of operations, with their weights."""

FAULTS = {
    'kill compute': 3, 'pause compute': 1, 'kill engine': 3,
    'pause engine': 1, 'kill scheduler': 2, 'pause scheduler': 1,
    'kill API': 1, 'pause API': 1, 'kill RabbitMQ': 1, 'kill MariaDB': 1}
"""The faults of one run, and the number of each kind."""
SHORT_LENGTH = 67
"""Number of operations of one of the three short runs."""
SHORT_RUNS = {
    1: ('kill compute', 'pause engine', 'kill scheduler', 'kill RabbitMQ'),
    2: ('kill engine', 'pause scheduler', 'kill API'),
    3: ('pause compute', 'pause API', 'kill MariaDB')}
"""The faults of the short runs in CI, by their seeds. Together the runs
contain every kind of operation and every kind of fault."""

FIRST = 5
"""Number of groups that are created first."""
MISTAKE = 0.1
"""Share of the server creates whose member may already have a server."""


@dataclass(frozen=True)
class Operation:
    """One operation of a user.

    :ivar group: number of the group, if the operation concerns a group
    :ivar member: path of the member; empty for a server without a pointer
    :ivar count: number of servers of each counted member of a create or update
    :ivar dice: a random number below 1 for choices during the operation
    """

    number: int
    kind: str
    dice: float
    group: int | None = None
    member: str | None = None
    count: int | None = None


@dataclass(frozen=True)
class Fault:
    """One fault of a process.

    :ivar kind: one of FAULTS
    :ivar begin: number of the operation at which the fault begins
    :ivar end: number of the operation at which the fault ends
    :ivar dice: a random number below 1 that chooses one of several processes
    """

    kind: str
    begin: int
    end: int
    dice: float


@dataclass
class _Group:
    """The state of a group if all earlier operations have succeeded."""

    shape: Shape
    count: int
    booted: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Sequence:
    """The operations and the faults of one run.

    :ivar shapes: shapes by the numbers of their groups
    """

    seed: int
    operations: tuple[Operation, ...]
    faults: tuple[Fault, ...]
    shapes: tuple[Shape, ...]


def sequence(seed: int, length: int = LENGTH,
             faults: Mapping[str, int] = FAULTS) -> Sequence:
    """The operations and faults of a seed.

    :param faults: number of faults of each kind
    """
    dice = random.Random(f'chaos {seed}')
    author = _Author(dice)
    operations = tuple(author.next(number) for number in range(length))
    return Sequence(seed, operations, _faults(dice, length, faults),
                    tuple(group.shape for group in author.groups))


def short_sequences() -> list[Sequence]:
    """The sequences of the short runs."""
    return [sequence(seed, SHORT_LENGTH, dict.fromkeys(faults, 1))
            for seed, faults in SHORT_RUNS.items()]


def _faults(dice: random.Random, length: int,
            faults: Mapping[str, int]) -> tuple[Fault, ...]:
    """The faults in random order. The sequence is divided into equal parts,
    and each fault begins in a different part."""
    kinds = [kind for kind, times in faults.items() for _ in range(times)]
    dice.shuffle(kinds)
    part = (length - 2 * FIRST) / len(kinds)
    begins = [2 * FIRST + int((at + dice.random()) * part)
              for at in range(len(kinds))]
    return tuple(Fault(kind, begin, begin + dice.randint(3, 12),
                       dice.random()) for kind, begin in zip(kinds, begins))


class _Author:
    """Creates a sequence that is consistent as long as all operations succeed.

    :ivar groups: all groups that it has created
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
            operation = self._write(number, kind)
            if operation is not None:
                return operation

    def _write(self, number: int, kind: str) -> Operation | None:
        """The operation; None if no group or server exists for it."""
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
