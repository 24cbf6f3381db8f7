# SPDX-License-Identifier: Apache-2.0
"""Number of members of each kind on each of some chosen hosts."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.decomposition.aggregated_program import (
    AggregatedProgram)
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.marginal_cost_greedy import (
    assign_by_marginal_cost, rounded_counts)
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.limits.current import milp, phases, problem
from nova_holistic.solver.numerics.tolerances import EQUAL_COSTS
from nova_holistic.solver.problem.deadline import Deadline
from nova_holistic.solver.problem.hosts import in_turns


@dataclass(frozen=True, slots=True, eq=False)
class HostAssignment:
    """Chosen hosts, and places on them.

    :ivar hosts: indexes in the table, including some hosts without places
    :ivar taken: for each kind, host index to number of places; None if no
        places were found
    :ivar shares: [part, cell]: members of the cells' parts there
    """

    hosts: np.ndarray
    taken: tuple[dict[int, int], ...] | None
    shares: np.ndarray | None = None


def assign_to_hosts(aggregation: HostAggregation, spare: float,
                    gap: float | None, deadline: Deadline) -> HostAssignment:
    """Choose hosts, and assign the members of each kind to them.

    An integer program with the rules of the cells assigns them. If costs rise
    with utilisation, a greedy heuristic keeps the numbers of members that the
    relaxation assigns to each cell.

    :param aggregation: a solved relaxation
    :param spare: additional hosts, as a share of those that the relaxation
        uses
    :param gap: acceptable relative gap; None if the costs do not matter. HiGHS
        finds any assignment much faster than a cheap one.
    """
    if aggregation.host_cost.slopes:
        return _by_marginal_cost(aggregation, spare)
    cells = aggregation.cells
    chosen = _chosen(aggregation, max(spare, limits().spare_hosts)
                     if cells.cohesive_sets else spare)
    program = AggregatedProgram(
        aggregation.kinds, cells, aggregation.host_cost, aggregation.columns,
        [np.array([n]) for n in chosen])
    program.require_integers()
    program.preferences.limit(program.program, aggregation.limit)
    if gap is None:
        program.program.cost = np.zeros(len(program.program.cost))
    _, x = program.solve(phases().program_share * deadline.left(),
                         (gap or 0.0) / 2, milp().nodes)
    hosts = aggregation.columns.hosts[chosen]
    # Rules that this program does not contain may require a few more hosts.
    known = aggregation.columns.hosts[np.union1d(
        chosen, _chosen(aggregation, spare + limits().spare_hosts,
                        limits().fewest_spare_hosts))]
    if not x.any():
        return HostAssignment(known, None)
    return HostAssignment(known, _by_kind(hosts, np.rint(x).astype(np.int64)),
                          np.rint(program.parts).astype(np.int64))


def from_patterns(aggregation: HostAggregation, taken: np.ndarray,
                  parts: np.ndarray) -> HostAssignment:
    """Return known places, and some additional hosts without places.

    :param taken: [kind, host of the columns]
    :param parts: [part, cell]: members of the places
    """
    columns = aggregation.columns
    busy = np.flatnonzero(taken.any(axis=0))
    more = max(limits().fewest_spare_hosts, int(limits().spare_hosts
                                                * len(busy)))
    rest = np.setdiff1d(np.arange(len(columns.hosts)), busy)
    if aggregation.host_cost.slopes:
        rest = rest[np.argsort(columns.before[rest], kind='stable')]
    else:
        rest = _by_cost_and_capacity(aggregation, rest)
    return HostAssignment(
        np.sort(columns.hosts[np.concatenate((busy, rest[:more]))]),
        _by_kind(columns.hosts, taken), parts)


def _by_kind(hosts: np.ndarray, taken: np.ndarray) -> tuple[
        dict[int, int], ...]:
    return tuple({int(hosts[n]): int(row[n])
                  for n in np.flatnonzero(row).tolist()} for row in taken)


def _by_marginal_cost(aggregation: HostAggregation,
                      spare: float) -> HostAssignment:
    kinds, columns = aggregation.kinds, aggregation.columns
    x = np.array([row for _, row in aggregation.solution]).T
    cell = columns.cell[[hosts[0] for hosts, _ in aggregation.solution]]
    quota = rounded_counts(x, cell, aggregation.cells.count, kinds.numbers)
    # Policies of fine levels, which no cell represents, may limit the members
    # of a rack: another attempt uses equal hosts of different racks.
    order = np.arange(len(columns.hosts))
    if spare:
        order = np.searchsorted(
            columns.hosts, kinds.table.alternated(columns.hosts))
    taken = assign_by_marginal_cost(
        kinds, columns, aggregation.host_cost.slopes, quota, order)
    if taken is None:
        chosen = _chosen(aggregation, spare, limits().fewest_spare_hosts)
        return HostAssignment(columns.hosts[chosen], None)
    busy = taken.any(axis=0)
    free = order[~busy[order]]
    more = free[np.argsort(columns.before[free], kind='stable')]
    more = more[:max(limits().fewest_spare_hosts,
                     int((spare + limits().spare_hosts) * busy.sum()))]
    return HostAssignment(
        np.sort(columns.hosts[np.concatenate((np.flatnonzero(busy), more))]),
        _by_kind(columns.hosts, taken))


def _chosen(aggregation: HostAggregation, spare: float,
            least: int = 0) -> np.ndarray:
    """Sorted indexes of the chosen hosts in the relaxation's columns."""
    columns = aggregation.columns
    used = np.concatenate([hosts[:number] for (hosts, _), number in zip(
        aggregation.solution, aggregation.considered)])[:problem().part_hosts]
    more = max(least, int(np.ceil(spare * len(used))))
    rest = _by_cost_and_capacity(aggregation, np.setdiff1d(
        np.arange(len(columns.hosts)), used))
    return np.sort(np.concatenate((used, rest[:more])))


def _by_cost_and_capacity(aggregation: HostAggregation,
                          rest: np.ndarray) -> np.ndarray:
    """Sort the hosts: in every cell, cheap hosts with much room come first."""
    columns = aggregation.columns
    largest = np.maximum(columns.free.max(axis=0, initial=1), 1)
    room = (columns.free / largest).min(axis=1, initial=1.0)
    score = room - columns.opening / max(columns.opening.max(initial=0),
                                         EQUAL_COSTS)
    rest = rest[np.argsort(-score[rest], kind='stable')]
    return rest[in_turns(columns.cell[rest])]
