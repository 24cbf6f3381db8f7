# SPDX-License-Identifier: Apache-2.0
"""Integer numbers of members in each cell of the topology that keep much
traffic within domains, from the program of the bound.

A program over weights of patterns may halve a pattern without a loss, but a
plan that halves it loses most of its pairs. Therefore patterns are fixed as a
whole, as far as the rules permit, starting with the pattern that keeps the
most traffic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.limits.current import decomposition, milp
from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.traffic.column_pool import ColumnPool
from nova_holistic.solver.traffic.traffic_bound import TrafficBound


@dataclass(frozen=True, slots=True, eq=False)
class _FixedPattern:
    """A required number of members of a node in a place.

    :ivar columns: variables whose sum is the number of these members
    :ivar number: required number
    :ivar kept_traffic: Mbit/s that each of them keeps within the pattern
    """

    columns: np.ndarray
    number: int
    kept_traffic: float


def integer_counts(bound: TrafficBound,
                   deadline: Deadline) -> np.ndarray | None:
    """[part, cell]: numbers of members; None if no solution was found."""
    fixing = _Fixing(bound, deadline)
    rounds = limits().fixed_patterns if bound.partition.count > 1 else 0
    for _ in range(rounds):
        # A program that reaches the time limit has no bound.
        if fixing.outcome.bound is None:
            return None
        if not fixing.fix_best():
            break
    program = fixing.program()
    program.integer = np.zeros(len(program.cost), dtype=bool)
    program.integer[:bound.variables.size] = bound.variables.whole()
    outcome, x = program.solve(deadline.left(), limits().gap,
                               milp().nodes)
    if not outcome.solved:
        return None
    parts, cells = len(bound.variables.parts), bound.partition.count
    return np.round(x[:parts * cells]).astype(np.int64).reshape(parts, cells)


class _Fixing:
    """Patterns fixed so far, and the solution of the program with them.

    :ivar outcome: outcome of the latest program
    """

    def __init__(self, bound: TrafficBound, deadline: Deadline):
        self._bound, self._deadline = bound, deadline
        self._fixed: list[_FixedPattern] = []
        self._done: set[tuple[int, int]] = set()
        self.outcome, self._x = self.program().solve(deadline.left())

    def program(self, more: Sequence[_FixedPattern] = ()) -> Linear:
        """The bound's program, with a variable for the shortfall of each
        fixed number."""
        bound, fixed = self._bound, [*self._fixed, *more]
        program = bound.program()
        size = len(program.cost)
        program.cost = np.concatenate((program.cost, [
            decomposition().missing_cost * each.kept_traffic / bound.unit
            for each in fixed]))
        program.upper = np.concatenate((
            program.upper, [float(each.number) for each in fixed]))
        for n, each in enumerate(fixed):
            program.add_row([(np.append(each.columns, size + n), 1.0)],
                            each.number, np.inf)
        return program

    def fix_best(self) -> bool:
        """Fix the best pattern in the first place that has room for it. If no
        place has room, use the place with the best bound.

        :returns: whether there was a pattern
        """
        chosen = self._best_pattern()
        if chosen is None:
            return False
        pool, places, pattern = chosen
        before, best = self.outcome.bound, None
        for place in places:
            more = _fixed_patterns(self._bound, pool, place, pattern)
            outcome, x = self.program(more).solve(self._deadline.left())
            if outcome.bound is not None and (
                    best is None or outcome.bound < best[0].bound):
                best = outcome, x, more, place
            if best and best[0].bound <= (
                    before + limits().gap * abs(before)):
                break
        if best is None:
            self.outcome = Outcome(Status.NOTHING)
            return True
        self.outcome, self._x, more, place = best
        self._fixed += more
        self._done.add((id(pool), place))
        return True

    def _best_pattern(self) -> tuple[ColumnPool, list[int], int] | None:
        """The pool, the places to try and the number of a pattern: of all
        patterns in use, it keeps the most traffic within one place of the
        finest coarse level. Stars and places with a fixed pattern are
        excluded."""
        level = [*self._bound.partition.domain_of][-1]
        start, best = self._bound.variables.size, None
        for pool in self._bound.pools:
            weight = self._x[start:start + len(pool.type_of)]
            start += len(pool.type_of)
            if pool.level != level:
                continue
            place = pool.types.place[pool.type_of]
            kept_traffic = weight * pool.types.pairs(
                pool.type_of, pool.patterns)
            for n in np.argsort(-kept_traffic, kind='stable').tolist():
                if (id(pool), int(place[n])) in self._done or (
                        kept_traffic[n] <= limits().gap):
                    continue
                if best is None or kept_traffic[n] > best[0]:
                    total = np.bincount(place, kept_traffic, len(pool.inside))
                    best = kept_traffic[n], (
                        pool, self._places(pool, int(place[n]), total), n)
                break
        return best[1] if best else None

    def _places(self, pool: ColumnPool, first: int,
                total: np.ndarray) -> list[int]:
        """Places without a fixed pattern: the given one first, then those
        with the most traffic.

        :param total: [place]: traffic of the pool's patterns
        """
        others = [p for p in np.argsort(-total, kind='stable').tolist()
                  if p != first and (id(pool), p) not in self._done]
        return [first, *others[:limits().tried_places]]


def _fixed_patterns(bound: TrafficBound, pool: ColumnPool,
                    place: int, pattern: int) -> list[_FixedPattern]:
    numbers, mbps = pool.patterns[pattern], np.array(pool.star.mbps)
    kept_traffic = [float(numbers[1:] @ mbps), *(numbers[0] * mbps).tolist()]
    return [_FixedPattern(bound.variables.columns(
        bound.graph.nodes[node].paths, pool.inside[place]), int(number), each)
        for node, number, each in zip(pool.star.nodes, numbers, kept_traffic)]
