# SPDX-License-Identifier: Apache-2.0
"""How many members of each kind go to each of some chosen hosts."""

from dataclasses import dataclass

import numpy as np

from nova_holistic.model.objective import Outlay
from nova_holistic.solver.cells import Cells
from nova_holistic.solver.climb import climb, quotas
from nova_holistic.solver.columns import TINY
from nova_holistic.solver.deadline import Deadline
from nova_holistic.solver.kinds import Kinds
from nova_holistic.solver.merged import Merged
from nova_holistic.solver.merging import Merging

_MOST = 2000
"""Hosts in an integer program of kinds."""

_MORE = 0.25
"""Hosts without seats that may be needed, as a share of the others."""

_LEAST = 24
"""The fewest of these."""

_SECONDS = 0.25
"""Share of the time limit for it at most."""

_NODES = 50
"""Nodes of its search tree, beyond which it hardly gets better."""


@dataclass(frozen=True, slots=True, eq=False)
class Seating:
    """Chosen hosts, and seats on them.

    :ivar hosts: indexes into the table, also of some without seats
    :ivar taken: for each kind, host index to number; None where none is known
    """

    hosts: np.ndarray
    taken: tuple[dict[int, int], ...] | None


def seating(kinds: Kinds, cells: Cells, outlay: Outlay, merged: Merged,
            spare: float, gap: float, deadline: Deadline) -> Seating:
    """Exact for kinds on the chosen hosts, with the rules of the cells.

    :param spare: hosts beside those that the relaxation uses, as a share
    """
    if outlay.slopes:
        return _climbing(kinds, cells, outlay, merged, spare)
    chosen = _chosen(merged, spare)
    program = Merging(kinds, cells, outlay, merged.columns,
                      [np.array([n]) for n in chosen])
    program.whole_numbers()
    seconds = min(_SECONDS * deadline.limit, deadline.left())
    _, x = program.solve(seconds, gap / 2, _NODES)
    hosts = merged.columns.hosts[chosen]
    # Rules that are not told of here may ask for some hosts more.
    known = merged.columns.hosts[np.union1d(
        chosen, _chosen(merged, spare + _MORE, _LEAST))]
    if not x.any():
        return Seating(known, None)
    return Seating(known, tuple(
        {int(hosts[n]): int(round(row[n]))
         for n in np.flatnonzero(row > 0.5).tolist()} for row in x))


def _climbing(kinds: Kinds, cells: Cells, outlay: Outlay, merged: Merged,
              spare: float) -> Seating:
    columns = merged.columns
    x = np.array([row for _, row in merged.solution]).T
    cell = columns.cell[[hosts[0] for hosts, _ in merged.solution]]
    taken = climb(kinds, columns, outlay.slopes, quotas(
        x, cell, int(columns.cell.max()) + 1, kinds.numbers))
    if taken is None:
        return Seating(columns.hosts[_chosen(merged, spare, _LEAST)], None)
    busy = taken.any(axis=0)
    free = np.flatnonzero(~busy)
    more = free[np.argsort(columns.before[free], kind='stable')]
    more = more[:max(_LEAST, int((spare + _MORE) * busy.sum()))]
    return Seating(
        np.sort(columns.hosts[np.concatenate((np.flatnonzero(busy), more))]),
        tuple({int(columns.hosts[n]): int(row[n])
               for n in np.flatnonzero(row).tolist()} for row in taken))


def _chosen(merged: Merged, spare: float, least: int = 0) -> np.ndarray:
    """Numbers in the relaxation's columns, in order."""
    columns = merged.columns
    used = np.concatenate([hosts[:number] for (hosts, _), number in zip(
        merged.solution, merged.wanted)])[:_MOST]
    more = max(least, int(np.ceil(spare * len(used))))
    # Roomy and cheap hosts are the likeliest to help, in every cell.
    largest = np.maximum(columns.free.max(axis=0, initial=1), 1)
    room = (columns.free / largest).min(axis=1, initial=1.0)
    worth = room - columns.opening / max(columns.opening.max(initial=0), TINY)
    rest = np.setdiff1d(np.arange(len(columns.hosts)), used)
    rest = rest[np.argsort(-worth[rest], kind='stable')]
    rank = np.zeros(len(rest), dtype=np.int64)
    for cell in np.unique(columns.cell[rest]):
        inside = columns.cell[rest] == cell
        rank[inside] = np.arange(inside.sum())
    rest = rest[np.argsort(rank, kind='stable')][:more]
    return np.sort(np.concatenate((used, rest)))
