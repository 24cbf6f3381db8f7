# SPDX-License-Identifier: Apache-2.0
"""Integer numbers of members in each part of the tree that keep much traffic
within parts, from the program of the bound.

A program over weights of patterns may halve a pattern without a loss, but a
plan that halves it loses most of its pairs. Therefore patterns are fixed as a
whole, as far as the rules permit, starting with the pattern that keeps the
most traffic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.limits.current import traffic as limits
from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.traffic.column_pool import ColumnPool
from nova_holistic.solver.traffic.traffic_bound import TrafficBound


@dataclass(frozen=True, slots=True, eq=False)
class _FixedPattern:
    """Required number of a node's members in a place.

    :ivar kept_traffic: traffic of each of them
    """

    columns: np.ndarray
    number: int
    kept_traffic: float


def integer_counts(bound: TrafficBound,
                   deadline: Deadline) -> np.ndarray | None:
    """[part, cell]: numbers of members; None if no solution was found."""
    fixed: list[_FixedPattern] = []
    done: set[tuple[int, int]] = set()
    rounds = limits().fixed_patterns if bound.partition.count > 1 else 0
    outcome, x = _program(bound, fixed).solve(deadline.left())
    for _ in range(rounds):
        if not outcome.solved:
            return None
        chosen = _best_pattern(bound, x, done)
        if chosen is None:
            break
        outcome, x, fixed = _fix_best(
            bound, fixed, *chosen, outcome.bound, done, deadline)
    program = _program(bound, fixed)
    program.integer = np.zeros(len(program.cost), dtype=bool)
    program.integer[:bound.variables.size] = bound.variables.whole()
    outcome, x = program.solve(deadline.left(), limits().integer_gap,
                               limits().integer_nodes)
    if not outcome.solved:
        return None
    parts, cells = len(bound.variables.parts), bound.partition.count
    return np.round(x[:parts * cells]).astype(np.int64).reshape(parts, cells)


def _fix_best(bound: TrafficBound, fixed: list[_FixedPattern],
              pool: ColumnPool,
              places: Sequence[int], pattern: int, before: float,
              done: set[tuple[int, int]], deadline: Deadline
              ) -> tuple[Outcome, np.ndarray, list[_FixedPattern]]:
    """Fix the pattern in the first place that has room for it. If no place has
    room, use the place with the best bound."""
    best = None
    for place in places:
        more = [*fixed, *_fixed_patterns(bound, pool, place, pattern)]
        outcome, x = _program(bound, more).solve(deadline.left())
        if outcome.solved and (best is None or outcome.bound < best[0]):
            best = outcome.bound, place, (outcome, x, more)
        if best and best[0] <= before + limits().fixing_loss * abs(before):
            break
    if best is None:
        return Outcome(Status.NOTHING), np.zeros(0), fixed
    done.add((id(pool), best[1]))
    return best[2]


def _program(bound: TrafficBound, fixed: list[_FixedPattern]) -> Linear:
    """The bound's program, with a variable for the shortfall of each number.
    """
    program = bound.program()
    size = len(program.cost)
    program.cost = np.concatenate((
        program.cost, [limits().missing_factor * each.kept_traffic / bound.unit
                       for each in fixed]))
    program.upper = np.concatenate((
        program.upper, [float(each.number) for each in fixed]))
    for n, each in enumerate(fixed):
        columns = np.append(each.columns, size + n)
        program.add(np.zeros(len(columns)), columns, np.ones(len(columns)),
                    each.number, np.inf, 1)
    return program


def _best_pattern(bound: TrafficBound, x: np.ndarray,
                  done: set[tuple[int, int]]
                  ) -> tuple[ColumnPool, list[int], int] | None:
    """The pool, the places to try and the number of a pattern: of all patterns
    in use, it keeps the most traffic within one place of the finest coarse
    level. Stars and places with a fixed pattern are excluded."""
    level = [*bound.partition.domain_of][-1]
    start, best = bound.variables.size, None
    for pool in bound.pools:
        weight = x[start:start + len(pool.type_of)]
        start += len(pool.type_of)
        if pool.level != level:
            continue
        place = pool.types.place[pool.type_of]
        kept_traffic = weight * pool.types.pairs(pool.type_of, pool.patterns)
        for n in np.argsort(-kept_traffic, kind='stable').tolist():
            if (id(pool), int(place[n])) in done or (
                    kept_traffic[n] <= limits().least_pattern_traffic):
                continue
            if best is None or kept_traffic[n] > best[0]:
                total = np.bincount(place, kept_traffic, len(pool.inside))
                # Places with most of its traffic come first.
                others = [p for p in np.argsort(-total, kind='stable').tolist()
                          if p != place[n] and (id(pool), p) not in done]
                best = kept_traffic[n], (pool, [int(place[n]),
                                         *others[:limits().tried_places]], n)
            break
    return best[1] if best else None


def _fixed_patterns(bound: TrafficBound, pool: ColumnPool,
                    place: int, pattern: int) -> list[_FixedPattern]:
    numbers, mbps = pool.patterns[pattern], np.array(pool.star.mbps)
    kept_traffic = [float(numbers[1:] @ mbps), *(numbers[0] * mbps).tolist()]
    return [_FixedPattern(bound.variables.columns(
        bound.graph.nodes[node].paths, pool.inside[place]), int(number), each)
        for node, number, each in zip(pool.star.nodes, numbers, kept_traffic)]
