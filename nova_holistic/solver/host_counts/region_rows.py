# SPDX-License-Identifier: Apache-2.0
"""Rows of policies on the number of domains in use, in a program of numbers.
"""

from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.decomposition.host_room import host_room
from nova_holistic.solver.decomposition.partition import divided
from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, Disjoint, MaxDomains, MaxSkew, MinDomains, Shape)
from nova_holistic.solver.host_counts.count_program import CountProgram
from nova_holistic.solver.host_counts.counted_members import Paths
from nova_holistic.solver.host_counts.limited_traffic import LimitedTraffic


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Members that one domain of a level has to hold together. The program
    chooses the region of this domain.

    :ivar domain: [host]: its domain; -1 if it is in none
    :ivar used: [region]: number of the variable that is 1 if a domain of the
        region holds the members
    :ivar region: [domain]: its region; -1 if it has no host that can take
        members
    :ivar needed: [domain]: minimum number of its hosts that hold the members;
        infinite if they have no room there
    """

    domain: np.ndarray
    used: np.ndarray
    region: np.ndarray
    needed: np.ndarray


class RegionRows:
    """Rows of a level with any number of domains, from the number of domains
    in use in each region.

    :ivar together: members that one domain holds
    """

    def __init__(self, program: CountProgram, level: str):
        self._program = program
        self.together: list[Together] = []
        hosts, table = program.hosts, program.members.kinds.table
        self._domain = table.division(level).of_host[hosts.hosts]
        self._count = len(table.division(level).domains)
        of_cell = _regions(program, level)
        # [domain]: its region; -1 if it has no host that can take members.
        self._region = np.full(self._count, -1, dtype=np.int64)
        some = self._domain >= 0
        self._region[self._domain[some]] = of_cell[hosts.cell[some]]
        self._has_hosts_outside = not some.all()
        self._cells = [of_cell == r for r in range(int(of_cell.max()) + 1)]
        self._in_use = []
        for region, cells in enumerate(self._cells):
            found = program.add([(self._region == region).sum()], True)
            # Each domain in use has a host in use.
            program.row([(program.hosts_in(cells), 1.0), (found, -1.0)],
                        0.0, np.inf)
            self._in_use.append(found)
        self._used: dict[Paths, list[np.ndarray]] = {}

    def add(self, shape: Shape) -> None:
        """Add the rows of one shape of this level."""
        program = self._program
        paths = program.members.paths(shape.scope)
        used = self._uses(paths)
        if isinstance(shape, MinDomains):
            program.row([(each, 1.0) for each in used],
                        float(shape.least), np.inf)
        elif isinstance(shape, MaxDomains):
            if self._has_all(shape.domains):
                program.row([(each, 1.0) for each in used], -np.inf,
                            float(shape.most))
                if shape.most == 1 and not self._has_hosts_outside:
                    self._keep_together(paths, used)
        elif isinstance(shape, CountCap | MaxSkew):
            self._limit(paths, used, self._limits(shape, len(paths)))
        elif isinstance(shape, Disjoint) and self._has_all(shape.domains):
            other = program.members.paths(shape.other)
            if not self._has_hosts_outside:
                program.separate(paths, other)
            for here, there, every in zip(used, self._uses(other),
                                          self._in_use):
                program.row([(here, 1.0), (there, 1.0), (every, -1.0)],
                            -np.inf, 0.0)

    def divide(self, traffic: LimitedTraffic) -> None:
        """Add the rows of members with traffic: one domain holds all of them,
        or each of them is in a domain that may divide them."""
        if self._has_hosts_outside:
            return
        program, paths = self._program, traffic.paths
        size, used = float(len(paths)), self._uses(paths)
        cell = program.hosts.cell
        dividing = np.zeros(len(program.hosts.size), dtype=bool)
        dividing[cell[traffic.divides[self._domain]]] = True
        # 1 for the region of the domain that holds all, if one does.
        whole = [program.add([1], True) for _ in used]
        every = np.concatenate(whole)
        # If one domain holds all, they are in one domain.
        program.row([(np.concatenate(used), 1.0), (every, size - 1)],
                    -np.inf, size)
        program.row([(every, 1.0)], -np.inf, 1.0)
        for cells, one in zip(self._cells, whole):
            program.row([(program.members_in(paths, cells & ~dividing), 1.0),
                         (one, -size)], -np.inf, 0.0)
            program.row([(program.members_in(paths, cells), 1.0),
                         (every, size), (one, -size)], -np.inf, size)
        self._keep_together(paths, whole)

    def _has_all(self, domains: frozenset[int]) -> bool:
        """Whether the domains include all that have hosts."""
        return {*np.flatnonzero(self._region >= 0).tolist()} <= domains

    def _limits(self, shape: CountCap | MaxSkew, number: int) -> np.ndarray:
        """[domain]: maximum number of members of the scope."""
        return np.array([min(number, shape.most(domain, number))
                         for domain in range(self._count)], dtype=np.int64)

    def _limit(self, paths: Paths, used: list[np.ndarray],
               most: np.ndarray) -> None:
        """The domains in use of a region have room for the members there."""
        if self._has_hosts_outside:
            # Hosts in no domain may hold members, too.
            return
        for region, (cells, number) in enumerate(zip(self._cells, used)):
            here = most[self._region == region].max(initial=0)
            self._program.row([
                (self._program.members_in(paths, cells), 1.0),
                (number, -float(here))], -np.inf, 0.0)

    def _uses(self, paths: Paths) -> list[np.ndarray]:
        """For each region, the variable of the number of domains that hold
        some of the members."""
        program = self._program
        if paths not in self._used:
            found = self._used[paths] = []
            for cells, every in zip(self._cells, self._in_use):
                number = program.add([min(len(paths), (
                    self._region >= 0).sum())], True)
                program.row([(every, 1.0), (number, -1.0)], 0.0, np.inf)
                program.row([(program.members_in(paths, cells), 1.0),
                             (number, -1.0)], 0.0, np.inf)
                found.append(number)
            self._limit(paths, found, np.full(self._count, len(paths)))
        return self._used[paths]

    def _keep_together(self, paths: Paths, used: list[np.ndarray]) -> None:
        """If one domain holds all members of the scope, the hosts in use in
        its region are those that the members need in one domain, and at least
        one for each other domain in use.

        :param used: for each region, a variable that is 1 if a domain of the
            region holds all of them, and 0 otherwise
        """
        program, needed = self._program, self._needed(paths)
        self.together.append(Together(self._domain, np.concatenate(used),
                                      self._region, needed))
        for region, (cells, number) in enumerate(zip(self._cells, used)):
            here = needed[self._region == region]
            least = here.min(initial=np.inf)
            if np.isinf(least):
                # No domain of the region has room for all members.
                program.row([(number, 1.0)], -np.inf, 0.0)
            elif least > 1:
                program.row([
                    (program.hosts_in(cells), 1.0),
                    (self._in_use[region], -1.0),
                    (number, 1.0 - least)], 0.0, np.inf)

    def _needed(self, paths: Paths) -> np.ndarray:
        """[domain]: minimum number of its hosts that hold all members;
        infinite if they have no room."""
        members = self._program.members
        found = np.zeros(self._count)
        for some, most in [(paths, len(paths)), *(
                (each.paths, each.most) for each in members.limits
                if each.paths <= paths)]:
            found = np.maximum(found, self._hosts_for(len(some), np.minimum(
                host_room(members.kinds, some)[self._program.hosts.hosts],
                most)))
        return found

    def _hosts_for(self, size: int, room: np.ndarray) -> np.ndarray:
        """[domain]: minimum number of its hosts with room for ``size`` members
        in total; infinite if they have none.

        :param room: [host]
        """
        inside = np.flatnonzero(self._domain >= 0)
        order = inside[np.lexsort((-room[inside], self._domain[inside]))]
        domain = self._domain[order]
        first = np.searchsorted(domain, np.arange(self._count))
        total = np.concatenate(([0], np.cumsum(room[order])))
        rank = np.arange(len(order)) - first[domain] + 1
        found = np.full(self._count, np.inf)
        enough = total[1:] - total[first[domain]] >= size
        np.minimum.at(found, domain[enough], rank[enough])
        return found


def _regions(program: CountProgram, level: str) -> np.ndarray:
    """[cell]: its region, from the coarser levels of the tree. A domain of a
    level of the tree is in one domain of each coarser level."""
    hosts, tree = program.hosts, program.members.kinds.table.snapshot.levels
    found = np.zeros(len(hosts.size), dtype=np.int64)
    for coarser in tree[:tree.index(level)] if level in tree else ():
        if coarser in hosts.domain_of:
            found = divided(found, hosts.domain_of[coarser])
    return found
