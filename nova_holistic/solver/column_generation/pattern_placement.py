# SPDX-License-Identifier: Apache-2.0
"""Placements on the hosts of a relaxation, from patterns of whole members."""

from collections.abc import Mapping
from collections import Counter
import math

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.column_generation.cell_program import integer_shares
from nova_holistic.solver.column_generation.diving import Dive
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.patterns import Patterns
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.numerics.kind_places import KindPlaces
from nova_holistic.solver.problem.eligibility import demands
from nova_holistic.solver.problem.kinds import Kinds


def is_applicable(kinds: Kinds, host_cost: HostCost, cells: Cells,
                  columns: Columns, most: int | None = None) -> bool:
    """Whether patterns are applicable: the kinds must be few, removing members
    from a pattern must not make a host more expensive, and a cohesive set must
    not need more hosts than the costs require.

    :param most: maximum number of kinds; None means the limit
    """
    slopes = np.array((0.0, *host_cost.slopes))
    return bool(len(kinds.kinds) <= (most or limits().kinds)
                and (np.diff(slopes) >= 0).all()
                and (columns.opening >= 0).all()
                and (host_cost.slopes or not cells.cohesive_sets))


def place_patterns(kinds: Kinds, cells: Cells, generation: ColumnGeneration,
                   gap: float, integral: bool, limit: float
                   ) -> tuple[np.ndarray, np.ndarray] | None:
    """Places as [kind, host of the columns], and members as [part, cell]. None
    if the time is not sufficient, the rules have no solution, or a cohesive
    set has too few hosts.

    :param gap: acceptable relative gap
    :param integral: whether costs are whole numbers
    :param limit: maximum cost of preferences
    """
    goal = fallback_goal = generation.floor / (1 - limits().goal_share * gap)
    if integral:
        goal = max(goal, math.ceil(generation.bound - 1e-6)
                   - generation.bound + generation.floor)
        fallback_goal = goal + 1
    result = Dive(generation, goal, fallback_goal, integral).run()
    if result is None or not result.hosts:
        return None
    master = generation.master
    found = integer_shares(kinds, cells, master.places(result.hosts), limit,
                           generation.deadline.left())
    if found is None:
        return None
    shares, parts = found
    taken = places_of_hosts(generation.host_types, *_patterns_in_use(
        generation, result.hosts), shares)
    return (taken, parts) if _has_enough_hosts(
        cells, generation.host_types, taken, parts) else None


def places_on_hosts(generation: ColumnGeneration,
                    hosts: Mapping[int, int]) -> np.ndarray:
    """Places as [kind, host of the columns], as many as the patterns have.

    :param hosts: the hosts of a dive
    """
    host_types = generation.host_types
    _, patterns, numbers = _hosts_in_use(
        host_types, *_patterns_in_use(generation, hosts))
    found = np.zeros((len(generation.numbers), host_types.numbers.sum()),
                     dtype=np.int64)
    found[:, numbers] = patterns.T
    return found


def _patterns_in_use(generation: ColumnGeneration, hosts: Mapping[int, int]
                     ) -> tuple[Patterns, np.ndarray]:
    """The patterns of a dive, and the number of hosts with each of them."""
    master, used = generation.master, sorted(hosts)
    return (Patterns(np.array(master.types)[used], master.patterns[used]),
            np.array([hosts[column] for column in used], dtype=np.int64))


def places_of_hosts(host_types: HostTypes, used: Patterns,
                    numbers: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Places as [kind, host of the columns], without those that exceed the
    members of the cells.

    :param used: patterns in use
    :param numbers: [pattern]: number of hosts with it
    :param shares: [kind, cell]: members
    """
    types, patterns, hosts = _hosts_in_use(host_types, used, numbers)
    places = np.zeros_like(shares)
    np.add.at(places.T, host_types.cell[types], patterns)
    _remove_surplus(host_types, types, patterns, places - shares)
    taken = np.zeros((len(shares), host_types.numbers.sum()), dtype=np.int64)
    taken[:, hosts] = patterns.T
    return taken


def _has_enough_hosts(cells: Cells, host_types: HostTypes, taken: np.ndarray,
                      parts: np.ndarray) -> bool:
    """Whether each cohesive set has enough hosts in each cell. Patterns do not
    limit the number of its members on one host.

    :param taken: [kind, host of the columns]: places
    """
    cell = host_types.cell[host_types.of_host]
    return all(
        np.bincount(cell, np.minimum(taken.sum(axis=0), each.most),
                    cells.count)[c] >= number
        for each in cells.cohesive_sets
        for c, number in enumerate(parts[list(each.parts)].sum(axis=0)))


def _hosts_in_use(host_types: HostTypes, patterns: Patterns,
                  numbers: np.ndarray
                  ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Type, pattern and number of each host in use.

    :param numbers: [pattern]: number of hosts with it
    """
    used: Counter[int] = Counter()
    hosts: list[int] = []
    for host_type, number in zip(patterns.types.tolist(), numbers.tolist()):
        first = used[host_type]
        used[host_type] += number
        hosts.extend(host_types.hosts(host_type)[
            first:first + number].tolist())
    return (np.repeat(patterns.types, numbers),
            np.repeat(patterns.members, numbers, axis=0),
            np.array(hosts, dtype=np.int64))


def _remove_surplus(host_types: HostTypes, types: np.ndarray,
                    patterns: np.ndarray, surplus: np.ndarray) -> None:
    """Remove unneeded places where the removal saves the most.

    :param surplus: [kind, cell]
    """
    for kind, cell in np.argwhere(surplus > 0).tolist():
        for _ in range(int(surplus[kind, cell])):
            some = np.flatnonzero(
                (host_types.cell[types] == cell) & (patterns[:, kind] > 0))
            less = patterns[some].copy()
            less[:, kind] -= 1
            saved = (host_types.cost(types[some], patterns[some])
                     - host_types.cost(types[some], less))
            # If several hosts save the same, the host with the fewest members
            # is chosen, because it may become empty.
            best = np.lexsort((less.sum(axis=1), -np.round(saved, 9)))[0]
            patterns[some[best], kind] -= 1


def places_of_dive(generation: ColumnGeneration, kinds: Kinds,
                   columns: Columns) -> KindPlaces | None:
    """The places of the first dive, for greedy construction; None if it finds
    none in time.

    :param generation: has generated patterns of these kinds and columns
    """
    # Any value is good enough, because the places only guide a construction.
    found = Dive(generation, math.inf, math.inf, True).run()
    if found is None or not found.hosts:
        return None
    places = np.zeros((len(kinds.kinds), len(kinds.table)), dtype=np.int64)
    places[:, columns.hosts] = places_on_hosts(generation, found.hosts)
    numbers: dict[tuple, int] = {}
    return KindPlaces(kinds.kind_of, places, np.array([
        numbers.setdefault(tuple(sorted(demands(each.requirements))),
                           len(numbers)) for each in kinds.kinds]))
