# SPDX-License-Identifier: Apache-2.0
"""How many hosts a group needs at least, by what its policies say of domains.

A relaxation uses hosts in part: where a rack may hold a tenth of the members,
it uses a few large hosts of ten racks to a small share each. But each domain
that holds members has a host that holds some of them.
"""

from collections.abc import Callable, Iterable, Mapping, Set

import numpy as np

from nova_holistic.model.domain import HOST
from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, MaxSkew, MinDomains, Shape, shapes)
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.problem.rows import Carried
from nova_holistic.solver.problem.rules import Rules


def countable(carried: Iterable[Carried], rules: Rules) -> list[Carried]:
    """The policies of which it is worth asking how many domains they need."""
    return [each for each in carried
            if each.policy.hard and each.policy.levels
            and any(each.policy is other for other
                    in each.scope.group.policies)
            and all(level != HOST and len(rules.table.division(
                level).domains) <= limits().counted_domains
                for level in each.policy.levels)]


def fewest_hosts(rules: Rules, placed: Mapping[str, int],
                 in_time: Callable[[], None]) -> int:
    """The least number of hosts that get members in any plan, beside the
    hosts of members that stay.

    :param rules: the hard policies
    :param placed: member path to host index, of members that stay
    """
    return max((_HostsNeeded(rules, shape, placed).hosts()
                for shape in shapes(rules, in_time)
                if isinstance(shape, CountCap | MaxSkew | MinDomains)
                and shape.level != HOST), default=0)


class _HostsNeeded:
    """What one shape says of the members that do not stay.

    Domains with hosts of members that stay may take more members at no
    further host.

    :ivar new: number of members of the scope that do not stay
    :ivar stay: members of the scope that stay, by domain; the last is for
        hosts in none
    """

    def __init__(self, rules: Rules, shape: Shape,
                 placed: Mapping[str, int]):
        self._shape = shape
        self._division = rules.table.division(shape.level)
        self._reach = rules.reach
        of_host = self._division.of_host
        self._held = {int(of_host[host]) for host in placed.values()}
        members = rules.scopes[shape.scope].members
        self._paths = [m.path for m in members if m.path not in placed]
        self.new = len(self._paths)
        self.stay = np.zeros(len(self._division.domains) + 1, dtype=np.int64)
        for member in members:
            if member.path in placed:
                self.stay[of_host[placed[member.path]]] += 1

    def hosts(self) -> int:
        """The number of hosts that these members need at least."""
        if not self.new:
            return 0
        if isinstance(self._shape, MinDomains):
            return self._shape.least - len(
                self._held & self._shape.domains)
        open_to = self._reachable_domains()
        if isinstance(self._shape, MaxSkew) and self._in_all(open_to):
            return len(self._shape.domains - self._held)
        left = self.new - sum(
            self._room(number) for number in open_to & self._held)
        found = 0
        for room in sorted((self._room(number)
                            for number in open_to - self._held), reverse=True):
            if left <= 0:
                break
            left -= room
            found += 1
        return found

    def _in_all(self, open_to: Set[int]) -> bool:
        """Whether an even spread leaves no domain without members."""
        others = len(self._shape.domains) - 1
        return open_to <= self._shape.domains and (
            self.new + int(self.stay.sum()) > others * self._shape.skew)

    def _reachable_domains(self) -> set[int]:
        """Domains that some of the members can use; -1 for hosts in none."""
        masks = {id(mask): mask for mask in (
            self._reach[path] for path in self._paths)}
        hosts = np.logical_or.reduce([*masks.values()])
        return {*self._division.of_host[hosts].tolist()}

    def _room(self, domain: int) -> int:
        """The largest number of further members in the domain."""
        shape, every = self._shape, self.new + int(self.stay.sum())
        if isinstance(shape, CountCap):
            most = shape.most(domain, every)
        elif domain in shape.domains:
            # The others hold fewer members by the skew at most.
            others = len(shape.domains) - 1
            most = (every + others * shape.skew) // (others + 1)
        else:
            most = every
        return max(0, most - int(self.stay[domain]))
