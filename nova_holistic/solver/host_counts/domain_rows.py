# SPDX-License-Identifier: Apache-2.0
"""Rows of policies on single domains, in a program of numbers."""

import numpy as np

from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, Disjoint, MaxDomains, MaxSkew, MinDomains, Shape)
from nova_holistic.solver.host_counts.count_program import CountProgram
from nova_holistic.solver.host_counts.counted_members import Paths


class DomainRows:
    """Rows of each domain of a level with few domains. Each of these domains
    consists of whole cells.

    :param level: a level of ``hosts.domain_of``
    """

    def __init__(self, program: CountProgram, level: str):
        self._program = program
        domain_of = program.hosts.domain_of[level]
        self._cells = {int(d): domain_of == d for d in np.unique(domain_of)}
        self._used: dict[tuple[Paths, int], np.ndarray] = {}

    def add(self, shape: Shape) -> None:
        """Add the rows of one shape of this level."""
        program = self._program
        paths = program.members.paths(shape.scope)
        if isinstance(shape, CountCap):
            for domain, cells in self._cells.items():
                most = shape.most(domain, len(paths))
                if most < len(paths):
                    program.row([(program.members_in(paths, cells), 1.0)],
                                -np.inf, float(most))
        elif isinstance(shape, MaxDomains):
            program.row([(self._all_used(paths, shape.domains), 1.0)],
                        -np.inf, float(shape.most))
        elif isinstance(shape, MinDomains):
            program.row([(self._all_used(paths, shape.domains), 1.0)],
                        float(shape.least), np.inf)
        elif isinstance(shape, MaxSkew):
            self._even(paths, shape)
        elif isinstance(shape, Disjoint):
            others = program.members.paths(shape.other)
            for domain in sorted(shape.domains & self._cells.keys()):
                program.row([(self._uses(paths, domain), 1.0),
                             (self._uses(others, domain), 1.0)],
                            -np.inf, 1.0)

    def _even(self, paths: Paths, shape: MaxSkew) -> None:
        """The number of members in each domain is between a common number and
        this number plus the skew. A domain without cells holds none."""
        program = self._program
        low = program.add([
            len(paths) if shape.domains <= self._cells.keys() else 0], False)
        for domain in sorted(shape.domains & self._cells.keys()):
            inside = program.members_in(paths, self._cells[domain])
            program.row([(inside, 1.0), (low, -1.0)], 0.0, float(shape.skew))

    def _all_used(self, paths: Paths,
                  domains: frozenset[int]) -> np.ndarray:
        return np.concatenate([np.zeros(0, dtype=np.int64), *(
            self._uses(paths, each)
            for each in sorted(domains & self._cells.keys()))])

    def _uses(self, paths: Paths, domain: int) -> np.ndarray:
        """The variable that is 1 if the domain holds some of the members, and
        0 otherwise."""
        program, key = self._program, (paths, domain)
        if key not in self._used:
            cells = self._cells[domain]
            inside = program.members_in(paths, cells)
            used = self._used[key] = program.add([1], True)
            program.row([(inside, 1.0), (used, -float(len(paths)))],
                        -np.inf, 0.0)
            program.row([(inside, 1.0), (used, -1.0)], 0.0, np.inf)
            program.row([(program.hosts_in(cells), 1.0), (used, -1.0)],
                        0.0, np.inf)
        return self._used[key]
