# SPDX-License-Identifier: Apache-2.0
"""Ways to choose domains for members that rules keep together.

A program without whole numbers spreads a cohesive set over all domains. So
each choice of a domain is examined by itself: what is true of every choice is
true of all plans.
"""

from collections.abc import Sequence
from dataclasses import dataclass
import itertools

import numpy as np

from nova_holistic.solver.column_generation.sharing import sharing
from nova_holistic.solver.decomposition.apart import Family
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.problem.kinds import Kinds

_MOST = 6
"""Ways at most: further cohesive sets are not told where to go."""

_SECONDS = 1.0
"""For a question of some ten rows."""

Held = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """
    :ivar held: variables of the cells' own, and the value of each
    :ivar closed: [kind, cell]: nobody goes there
    """

    held: Held
    closed: np.ndarray

    def mirrored(self, other: 'Way', prices: np.ndarray) -> np.ndarray:
        """Prices of the other way where this one is as open.

        :param prices: [kind, cell]
        """
        mine, theirs = (np.flatnonzero((~one & two).any(axis=0))
                        for one, two in ((self.closed, other.closed),
                                         (other.closed, self.closed)))
        found = prices.copy()
        if len(mine) == len(theirs):
            found[:, mine], found[:, theirs] = (
                prices[:, theirs], prices[:, mine])
        return found


def anyhow(kinds: Kinds, cells: Cells) -> Way:
    return Way((), np.zeros((len(kinds.kinds), cells.count), dtype=bool))


def ways(kinds: Kinds, cells: Cells, families: Sequence[Family],
         limit: float) -> tuple[Way, ...]:
    """All plans go one of them, if preferences cost no more than the limit;
    none where no families are told of, or nobody could go any.
    """
    if not families:
        return ()
    found = [anyhow(kinds, cells)]
    for family in families:
        chosen = [[(int(n), 1.0)] for n in family.used]
        if not family.inside.any(axis=0).all():
            chosen.append([(int(n), 0.0) for n in family.used])
        if len(found) * len(chosen) > _MOST:
            continue
        found = [_with(kinds, cells, family, way, choice, limit)
                 for way, choice in itertools.product(found, chosen)]
        found = [way for way in found if _possible(
            kinds, cells, way.held, limit)]
    return tuple(found)


def _with(kinds: Kinds, cells: Cells, family: Family, way: Way,
          choice: Sequence[tuple[int, float]], limit: float) -> Way:
    """Domains that cannot be used beside the chosen one are closed."""
    held, closed = dict((*way.held, *choice)), way.closed.copy()
    for number, inside in zip(family.used.tolist(), family.inside):
        if number not in held and not _possible(
                kinds, cells, (*held.items(), (number, 1.0)), limit):
            held[number] = 0.0
        if held.get(number) == 0:
            closed |= np.outer(family.kinds, inside)
    return Way(tuple(held.items()), closed)


def _possible(kinds: Kinds, cells: Cells, held: Held, limit: float) -> bool:
    """Whether the rules of the cells leave a way, in fractions."""
    program = sharing(kinds, cells)
    shape = len(kinds.kinds), cells.count
    size = shape[0] * shape[1]
    cells.penalty(len(program.upper), np.arange(size).reshape(shape),
                  np.arange(shape[1]), size).limit(program, limit)
    if held:
        numbers, values = np.array(held).T
        program.add(np.arange(len(held)), size + numbers.astype(np.int64),
                    np.ones(len(held)), values, values, len(held))
    outcome, _ = program.solve(_SECONDS)
    return outcome.status is not Status.INFEASIBLE
