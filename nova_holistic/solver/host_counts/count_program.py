# SPDX-License-Identifier: Apache-2.0
"""The program of numbers of hosts, of domains in use and of members.

Variables: hosts in use of each cell, members of each class in each cell, and
for each level with many domains the domains in use in each region. A region is
a set of cells whose domains of this level are not in any other region.
"""

from collections.abc import Sequence

import numpy as np

from nova_holistic.solver.host_counts.counted_hosts import CountedHosts
from nova_holistic.solver.host_counts.counted_members import (
    CountedMembers, Paths)
from nova_holistic.solver.milp.linear import Linear, Terms


class CountProgram:
    """Minimises the number of hosts in use.

    :ivar linear: the program; cost and limits are complete after ``finish``
    :ivar of_n: [cell]: hosts in use
    :ivar of_m: [class, cell]: members
    """

    def __init__(self, members: CountedMembers, hosts: CountedHosts):
        self.members, self.hosts = members, hosts
        self.linear = Linear(np.zeros(0), np.zeros(0))
        self._upper: list[np.ndarray] = []
        self._integer: list[np.ndarray] = []
        self._size = 0
        cells, classes = len(hosts.size), len(members.kind)
        self.of_n = self.add(hosts.size, False)
        self.of_m = self.add(np.where(
            hosts.most_members[members.kind], members.numbers[:, None],
            0).reshape(-1), False).reshape(classes, cells)
        self._numbers: dict[bytes, int] = {}
        self._hosts_of: dict[Paths, np.ndarray] = {}
        for c, number in enumerate(members.numbers.tolist()):
            self.row([(self.of_m[c], 1.0)], number, number)
        for limit in members.limits:
            inside = self.of_m[members.inside(limit.paths)]
            for cell in range(cells):
                self.row([(inside[:, cell], 1.0),
                          (self.of_n[cell], -float(limit.most))], -np.inf, 0.0)

    def add(self, upper: np.ndarray | Sequence[float],
            integer: bool) -> np.ndarray:
        """Add variables from 0 to these limits, and return their numbers."""
        upper = np.asarray(upper, dtype=float)
        self._upper.append(upper)
        self._integer.append(np.full(len(upper), integer))
        self._size += len(upper)
        return np.arange(self._size - len(upper), self._size)

    def row(self, terms: Terms, lower: float, upper: float) -> None:
        """Limit the sum of the terms."""
        if any(np.size(those) for those, _ in terms):
            self.linear.add_row(terms, lower, upper)

    def members_in(self, paths: Paths, cells: np.ndarray) -> np.ndarray:
        """The variables of the members of a scope in these cells.

        :param cells: mask
        """
        return self.of_m[self.members.inside(paths)][:, cells].reshape(-1)

    def hosts_in(self, cells: np.ndarray) -> np.ndarray:
        """The variable of the number of hosts in use in these cells, which is
        an integer.

        :param cells: mask
        """
        key = cells.tobytes()
        if key not in self._numbers:
            total = self.add([self.hosts.size[cells].sum()], True)
            self.row([(self.of_n[cells], 1.0), (total, -1.0)], 0.0, 0.0)
            self._numbers[key] = int(total[0])
        return np.array([self._numbers[key]])

    def separate(self, first: Paths, second: Paths) -> None:
        """No host holds members of both scopes. The hosts in use of a cell are
        at least those of one scope and those of the other."""
        for one, other, every in zip(self._of_scope(first),
                                     self._of_scope(second), self.of_n):
            self.row([([one, other], 1.0), (every, -1.0)], -np.inf, 0.0)

    def _of_scope(self, paths: Paths) -> np.ndarray:
        """[cell]: the variables of the numbers of hosts that hold some of the
        members."""
        if paths not in self._hosts_of:
            members, cells = self.members, self.hosts.size
            found = self._hosts_of[paths] = self.add(cells, False)
            sets = [(self.of_m[members.inside(limit.paths)], np.full(
                len(cells), limit.most)) for limit in members.limits
                if limit.paths <= paths]
            most = self.hosts.most_members
            sets += [(self.of_m[[c]], most[members.kind[c]])
                     for c in members.inside(paths)]
            for inside, limits in sets:
                for those, limit, hosts in zip(inside.T, limits, found):
                    self.row([(those, 1.0), (hosts, -float(limit))],
                             -np.inf, 0.0)
        return self._hosts_of[paths]

    def limit_values(self, prices: np.ndarray, value: np.ndarray) -> None:
        """The members of a cell have at most the value that its hosts in use
        can hold. This maximum is a concave function of their number; some of
        its tangents are rows.

        :param prices: [kind]: value of one member
        :param value: [host]: the maximum value that the host can hold
        """
        unit = float(prices.max(initial=0)) or 1.0
        own = prices[self.members.kind] / unit
        every = int(self.members.numbers.sum())
        for c, most in enumerate(self.hosts.most(value / unit)):
            number = 0
            while number < min(len(most), every):
                slope = float(most[number + 1] - most[number]) if (
                    number + 1 < len(most)) else 0.0
                self.row([(self.of_m[:, c], own), (self.of_n[c], -slope)],
                         -np.inf, float(most[number]) - slope * number)
                # Tangents at larger numbers are farther apart.
                number += max(1, number // 3)

    def finish(self) -> tuple[Linear, np.ndarray]:
        """The program, and the mask of its integer variables."""
        self.hosts_in(np.ones(len(self.hosts.size), dtype=bool))
        cost = np.zeros(self._size)
        cost[self.of_n] = 1.0
        self.linear.cost = cost
        self.linear.upper = np.concatenate(self._upper)
        return self.linear, np.concatenate(self._integer)
