# SPDX-License-Identifier: Apache-2.0
"""How many members go to which part of the tree, so that much traffic stays
within parts: whole numbers from the program of the bound.

A program over weights of mixes may halve a mix and lose nothing; a plan that
halves it loses most of its pairs. So mixes are held as a whole, the one that
keeps most traffic together first, as far as rules let them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.traffic.front import Front
from nova_holistic.solver.traffic.traffic_bound import TrafficBound

_ROUNDS = 24
_STRONGLY = 10.0
"""What is missing of a held mix costs so many times what it is worth."""

_NODES = 200
"""Of the search tree for whole numbers."""

_GAP = 1e-3
_LITTLE = 1e-3
_LOSS = 1e-3
"""Share of the traffic that a mix may cost that there is room for."""

_PLACES = 8
"""Places in which a mix is tried, beside the one that it is in."""


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """So many of a node's members are wanted in a place.

    :ivar worth: of each of them
    """

    columns: np.ndarray
    number: int
    worth: float


def split(near: TrafficBound, deadline: Deadline) -> np.ndarray | None:
    """[part, cell]: numbers of members; None where there are none."""
    held: list[_Held] = []
    done: set[tuple[int, int]] = set()
    rounds = _ROUNDS if near.grid.count > 1 else 0
    outcome, x = _program(near, held).solve(deadline.left())
    for _ in range(rounds):
        if not outcome.solved:
            return None
        chosen = _heaviest(near, x, done)
        if chosen is None:
            break
        outcome, x, held = _hold_best(
            near, held, *chosen, outcome.bound, done, deadline)
    program = _program(near, held)
    program.integer = np.zeros(len(program.cost), dtype=bool)
    program.integer[:near.standing.size] = near.standing.whole()
    outcome, x = program.solve(deadline.left(), _GAP, _NODES)
    if not outcome.solved:
        return None
    parts, cells = len(near.standing.parts), near.grid.count
    return np.round(x[:parts * cells]).astype(np.int64).reshape(parts, cells)


def _hold_best(near: TrafficBound, held: list[_Held], front: Front,
               places: Sequence[int], mix: int, before: float,
               done: set[tuple[int, int]], deadline: Deadline
               ) -> tuple[Outcome, np.ndarray, list[_Held]]:
    """Hold the mix in the first of the places that has room for it; where
    none has, in the one that comes closest."""
    best = None
    for place in places:
        more = [*held, *_hold(near, front, place, mix)]
        outcome, x = _program(near, more).solve(deadline.left())
        if outcome.solved and (best is None or outcome.bound < best[0]):
            best = outcome.bound, place, (outcome, x, more)
        if best and best[0] <= before + _LOSS * abs(before):
            break
    if best is None:
        return Outcome(Status.NOTHING), np.zeros(0), held
    done.add((id(front), best[1]))
    return best[2]


def _program(near: TrafficBound, held: list[_Held]) -> Linear:
    """The bound's, and a variable for what is missing of each number."""
    program = near.program()
    size = len(program.cost)
    program.cost = np.concatenate((
        program.cost, [_STRONGLY * each.worth / near.unit for each in held]))
    program.upper = np.concatenate((
        program.upper, [float(each.number) for each in held]))
    for n, each in enumerate(held):
        columns = np.append(each.columns, size + n)
        program.add(np.zeros(len(columns)), columns, np.ones(len(columns)),
                    each.number, np.inf, 1)
    return program


def _heaviest(near: TrafficBound, x: np.ndarray, done: set[tuple[int, int]]
              ) -> tuple[Front, list[int], int] | None:
    """Front, places to try and number of the mix in use that keeps most
    traffic within one place of the finest coarse level, of stars and places
    that none is held of yet."""
    level = [*near.grid.domain_of][-1]
    start, best = near.standing.size, None
    for front in near.fronts:
        weight = x[start:start + len(front.sort)]
        start += len(front.sort)
        if front.level != level:
            continue
        place = front.sorts.place[front.sort]
        worth = weight * front.sorts.pairs(front.sort, front.mixes)
        for n in np.argsort(-worth, kind='stable').tolist():
            if (id(front), int(place[n])) in done or worth[n] <= _LITTLE:
                continue
            if best is None or worth[n] > best[0]:
                total = np.bincount(place, worth, len(front.inside))
                # Where much of it is in use comes first.
                others = [p for p in np.argsort(-total, kind='stable').tolist()
                          if p != place[n] and (id(front), p) not in done]
                best = worth[n], (front, [int(place[n]), *others[:_PLACES]], n)
            break
    return best[1] if best else None


def _hold(near: TrafficBound, front: Front,
          place: int, mix: int) -> list[_Held]:
    numbers, mbps = front.mixes[mix], np.array(front.star.mbps)
    worth = [float(numbers[1:] @ mbps), *(numbers[0] * mbps).tolist()]
    return [_Held(near.standing.columns(
        near.talk.nodes[node].paths, front.inside[place]), int(number), each)
        for node, number, each in zip(front.star.nodes, numbers, worth)]
