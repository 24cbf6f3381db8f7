# SPDX-License-Identifier: Apache-2.0
"""The number of hosts in use of each domain of a coarse level, as an integer
variable.

A relaxation uses fractions of hosts. If each zone needs 3.3 hosts, it proves
10 hosts for three zones, although each zone needs 4. A level with few domains
has few such numbers, so branching over them is fast.
"""

import numpy as np

from nova_holistic.solver.decomposition.bins import Bins
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.milp.linear import Linear
from nova_holistic.solver.numerics.tolerances import SUM_ROUNDING
from nova_holistic.solver.problem.rows import Kind


def coarse_domains(cells: Cells) -> np.ndarray:
    """[domain, cell]: whether the cell is in the domain, for each domain of
    the levels with few domains."""
    found = [np.zeros((0, cells.count), dtype=bool)]
    for level in _coarse_levels(cells):
        domain_of = cells.domain_of[level]
        found.append(np.unique(domain_of[domain_of >= 0])[:, None]
                     == domain_of)
    return np.concatenate(found)


def used_coarse_domains(cells: Cells) -> np.ndarray:
    """Mask of the cells' own variables: whether it is the use of a domain of a
    level with few domains."""
    found = np.zeros(len(cells.free), dtype=bool)
    levels = _coarse_levels(cells)
    found[[number for atom, number in cells.index.items()
           if atom.kind is Kind.USED and atom.level in levels]] = True
    return found


def _coarse_levels(cells: Cells) -> list[str]:
    return [level for level, domain_of in cells.domain_of.items()
            if len(np.unique(domain_of[domain_of >= 0]))
            <= limits().whole_domains]


def add_host_numbers(program: Linear, bins: Bins, of_y: np.ndarray,
                     domains: np.ndarray) -> np.ndarray:
    """Add a variable for the number of hosts in use of each domain, and return
    the numbers of these variables.

    :param of_y: [bin]: variables of hosts in use
    :param domains: [domain, cell]: whether the cell is in the domain
    """
    first, count = len(program.cost), len(domains)
    inside = domains[:, bins.cell]
    program.cost = np.append(program.cost, np.zeros(count))
    program.upper = np.append(program.upper, inside @ bins.size)
    of_n = first + np.arange(count)
    domain, number = np.nonzero(inside)
    rows = np.concatenate((np.arange(count), domain))
    columns = np.concatenate((of_n, of_y[number]))
    for ratio, lower, upper in (
            # One host in use of a bin represents at least this number,
            (bins.least_ratio * (1 - SUM_ROUNDING), 0.0, np.inf),
            # and at most this number of hosts.
            (bins.weight_ratio * (1 + SUM_ROUNDING), -np.inf, 0.0)):
        program.add(rows, columns, np.concatenate((
            np.ones(count), -ratio[number])), lower, upper, count)
    return of_n
