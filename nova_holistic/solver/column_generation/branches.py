# SPDX-License-Identifier: Apache-2.0
"""Branches on the domains of members that rules keep together.

The linear relaxation of the program spreads a cohesive set over all domains.
Therefore, a relaxation is solved for each choice of a domain. The smallest of
their bounds is a bound for all plans.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import itertools

import numpy as np

from nova_holistic.solver.column_generation.cell_program import cell_program
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.cohesive_kinds import CohesiveDomains
from nova_holistic.solver.limits.current import column_generation as limits
from nova_holistic.solver.milp.backend import Status
from nova_holistic.solver.problem.kinds import Kinds

Fixed = tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A choice of domains for cohesive sets.

    :ivar fixed: own variables of the cells, and the value of each
    :ivar closed: [kind, cell]: whether the branch excludes the kind there
    """

    fixed: Fixed
    closed: np.ndarray

    def mirrored_prices(self, other: 'Branch',
                        prices: np.ndarray) -> np.ndarray:
        """Return prices for this branch, from prices for the other branch: the
        cells that are open in only one of the two branches are exchanged.

        :param prices: [kind, cell], for the other branch
        """
        opened, other_opened = (np.flatnonzero((~one & two).any(axis=0))
                                for one, two in ((self.closed, other.closed),
                                                 (other.closed, self.closed)))
        found = prices.copy()
        if len(opened) == len(other_opened):
            found[:, opened], found[:, other_opened] = (
                prices[:, other_opened], prices[:, opened])
        return found


def unrestricted(kinds: Kinds, cells: Cells) -> Branch:
    """A branch without restrictions, which every plan follows."""
    return Branch((), np.zeros((len(kinds.kinds), cells.count), dtype=bool))


def domain_branches(kinds: Kinds, cells: Cells,
                    domains: Sequence[CohesiveDomains], limit: float,
                    left: Callable[[], float]) -> tuple[Branch, ...]:
    """Branches on the domains of cohesive sets. Every plan whose preferences
    cost at most the limit follows one of them. Empty if no cohesive set is
    given or no branch is possible.

    :param left: returns the seconds that are left
    """
    if not domains:
        return ()

    def is_possible(fixed: Fixed) -> bool:
        """Whether the rules of the cells may have a fractional solution; False
        only if it is proved that no solution exists."""
        program = cell_program(kinds, cells, limit)
        if fixed:
            numbers, values = np.array(fixed).T
            first = len(kinds.kinds) * cells.count
            program.add_rows([(first + numbers.astype(np.int64), 1.0)],
                             values, values)
        outcome, _ = program.solve(left())
        return outcome.status is not Status.INFEASIBLE

    found = [unrestricted(kinds, cells)]
    for cohesive in domains:
        chosen = [[(int(n), 1.0)] for n in cohesive.used]
        if not cohesive.inside.any(axis=0).all():
            chosen.append([(int(n), 0.0) for n in cohesive.used])
        if len(found) * len(chosen) > limits().branches:
            continue
        found = [_restricted(cohesive, branch, choice, is_possible)
                 for branch, choice in itertools.product(found, chosen)]
        found = [branch for branch in found if is_possible(branch.fixed)]
    return tuple(found)


def _restricted(cohesive: CohesiveDomains, branch: Branch,
                choice: Sequence[tuple[int, float]],
                is_possible: Callable[[Fixed], bool]) -> Branch:
    """Fix the choice, and close the domains that cannot be used together with
    the chosen domain."""
    fixed, closed = dict((*branch.fixed, *choice)), branch.closed.copy()
    for number, inside in zip(cohesive.used.tolist(), cohesive.inside):
        if number not in fixed and not is_possible(
                (*fixed.items(), (number, 1.0))):
            fixed[number] = 0.0
        if fixed.get(number) == 0:
            closed |= np.outer(cohesive.kinds, inside)
    return Branch(tuple(fixed.items()), closed)
