# SPDX-License-Identifier: Apache-2.0
"""An order of moves in which servers use intermediate hosts.

Two servers that must swap their hosts may have no direct order: neither host
has capacity for both, or a policy separates them. One of them then moves to an
intermediate host first, and to its destination later. Each move is possible
after the moves before it, as in ``move_order``.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.repair.move_order import (
    MOST_STATES, Move, MoveCheck, MoveContext, MoveSequence)

Suitable = Callable[[Move, Host], bool]
"""Whether the server of a move may be on a host for some time."""


def indirect_sequence(context: MoveContext, moves: Sequence[Move],
                      suitable: Suitable) -> MoveSequence | None:
    """An order of all moves with the fewest intermediate hosts.

    Each server uses at most one of them. The search is complete if there are
    at most ``MOST_STATES`` sets of completed moves for each number of
    intermediate hosts.

    :param moves: moves for which no direct order exists
    :returns: None if no such order was found
    """
    search = _Search(MoveCheck(context), tuple(moves), {
        move: _candidates(context, moves, move, suitable)
        for move in moves})
    for stops in range(1, len(moves) + 1):
        done = search.ordered(stops)
        if done is not None:
            return MoveSequence(tuple(done), FrozenMapping())
        if search.is_exhausted:
            break
    return None


def _candidates(context: MoveContext, moves: Sequence[Move],
                move: Move, suitable: Suitable) -> Sequence[Move]:
    """Moves of one server to the intermediate hosts that it may use.

    Hosts that no policy distinguishes, and whose capacity no other move
    changes, are limited to the number of servers that move.
    """
    busy = {row.place.host for row in context.members}
    busy.update(each.destination for each in moves)
    alike: Counter = Counter()
    check = MoveCheck(context)
    found = []
    for host in context.snapshot.hosts:
        leg = replace(move, destination=host.name, resources=None)
        if (not host.enabled or host.name in (move.source, move.destination)
                or not suitable(move, host)):
            continue
        if host.name not in busy:
            kind = (host.location, host.labels, host.traits, host.aggregates,
                    host.availability_zone, bool(host.servers))
            if alike[kind] >= len(moves) or check.missing_resource((), leg):
                continue
            alike[kind] += 1
        found.append(leg)
    return found


@dataclass(slots=True)
class _Search:
    """
    :ivar candidates: moves to intermediate hosts, by the move of the server
    :ivar is_exhausted: whether the last search was given up
    """

    check: MoveCheck
    moves: Sequence[Move]
    candidates: dict[Move, Sequence[Move]]
    is_exhausted: bool = False
    _seen: set[frozenset[Move]] = field(default_factory=set)

    def ordered(self, stops: int) -> Sequence[Move] | None:
        """An order with at most this number of intermediate hosts.

        The search goes through sets of completed moves, depth first.
        """
        self._seen = {frozenset()}
        done: list[Move] = []
        choices = [self._next(done, stops)]
        while choices:
            for move in choices[-1]:
                after = frozenset((*done, move))
                if after in self._seen or self.check.obstacle(done, move):
                    continue
                if len(self._seen) >= MOST_STATES:
                    self.is_exhausted = True
                    return None
                self._seen.add(after)
                done.append(move)
                if self._is_complete(done):
                    return done
                choices.append(self._next(done, stops))
                break
            else:
                choices.pop()
                if done:
                    done.pop()
        return None

    def _is_complete(self, done: Sequence[Move]) -> bool:
        hosts = {move.member: move.destination for move in done}
        return all(hosts.get(move.member) == move.destination
                   for move in self.moves)

    def _next(self, done: Sequence[Move], stops: int) -> Iterator[Move]:
        """Moves to destinations, and then moves to intermediate hosts if
        further ones may be used."""
        hosts = {move.member: move.destination for move in done}
        waiting = [move for move in self.moves
                   if hosts.get(move.member) != move.destination]
        for move in waiting:
            yield replace(move, source=hosts.get(move.member, move.source))
        destinations = {move.member: move.destination for move in self.moves}
        used = sum(move.destination != destinations[move.member]
                   for move in done)
        for move in waiting if used < stops else ():
            if move.member not in hosts:
                yield from self.candidates[move]
