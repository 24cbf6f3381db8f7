# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the number of hosts of a group, from its policies at two
levels.

If a rack may hold a tenth of the members, ten racks may suffice. If zones must
also hold nearly equal numbers, full racks often do not sum up to these
numbers, so that more racks are necessary. Relaxations use fractions of hosts
and do not detect this.

For each number of hosts, a domain of the fine level holds at most the members
for which its largest hosts have room, and at most its limit. Each further host
adds at most as many members as the host before it. Therefore, as soon as each
domain of the coarse level holds its minimum, it is optimal to add the host
that adds the most.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.decomposition.host_room import host_room
from nova_holistic.solver.evaluation.row_shapes import (
    CountCap, MaxSkew, Shape)
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.rules import Rules


@dataclass(slots=True)
class _Scope:
    """The policies of one scope.

    :ivar most: level to [domain]: maximum number of members; the last number
        is for hosts in no domain
    :ivar skews: level to the domains of each even spread, and its skew
    """

    most: dict[str, np.ndarray] = field(default_factory=dict)
    skews: dict[str, list[tuple[np.ndarray, int]]] = field(
        default_factory=dict)


def hosts_of_nested_domains(rules: Rules, shapes: Iterable[Shape],
                            kinds: Kinds, in_time: InTime) -> int:
    """Lower bound of the number of hosts that get members in any plan; 0 if
    nothing is proved.

    :param shapes: shapes of hard policies
    :param kinds: the members, none of which stays on its host
    """
    scopes = _scopes(rules, shapes)
    largest = sorted(scopes, key=lambda scope: -len(
        rules.scopes[scope].members))[:limits().nested_scopes]
    found = 0
    for number in largest:
        members = rules.scopes[number].members
        each = scopes[number]
        of_host = host_room(kinds, (m.path for m in members))
        for coarse in sorted(each.most.keys() | each.skews.keys()):
            for fine in (None, *sorted(each.most.keys() - {coarse})):
                in_time()
                hosts = _Hosts.of(rules, each, coarse, fine, of_host)
                for domains, skew in each.skews.get(
                        coarse, [(np.zeros(0, dtype=np.int64), 0)]):
                    found = max(found, hosts.least(
                        len(members), domains, skew, in_time))
    return found


def _scopes(rules: Rules, shapes: Iterable[Shape]) -> dict[int, _Scope]:
    found: dict[int, _Scope] = {}
    for shape in shapes:
        if not isinstance(shape, CountCap | MaxSkew):
            continue
        each = found.setdefault(shape.scope, _Scope())
        if isinstance(shape, MaxSkew):
            each.skews.setdefault(shape.level, []).append(
                (np.array(sorted(shape.domains)), shape.skew))
            continue
        most = each.most.setdefault(shape.level, np.full(
            len(rules.table.division(shape.level).domains) + 1,
            len(rules.scopes[shape.scope].members)))
        for domain, limit in shape.limits.items():
            most[domain] = min(most[domain], limit)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Hosts:
    """Maximum numbers of members on hosts, by domain of the coarse level; the
    last domain consists of the hosts in no domain.

    :ivar total: for each domain, [n]: maximum number of members on its n + 1
        best hosts
    """

    total: list[np.ndarray]

    @classmethod
    def of(cls, rules: Rules, scope: _Scope, coarse: str, fine: str | None,
           room: np.ndarray) -> '_Hosts':
        """Count the members of the scope.

        :param fine: the fine level; None means the host level without limits
        :param room: [host]: maximum number of members
        """
        of_coarse = rules.table.division(coarse).of_host
        of_fine = np.arange(len(room)) if fine is None else (
            rules.table.division(fine).of_host)
        most = room if fine is None else scope.most[fine][of_fine]
        # A fine domain in several coarse domains counts for each of them.
        order = np.lexsort((-room, of_fine, of_coarse))
        part = np.stack((of_coarse, of_fine))[:, order]
        first = np.append(True, (np.diff(part) != 0).any(axis=0))
        held = np.cumsum(room[order])
        start = np.flatnonzero(first)[np.cumsum(first) - 1]
        held = np.minimum(held - (held - room[order])[start], most[order])
        gain = np.where(first, held, np.diff(held, prepend=0))
        count = len(rules.table.division(coarse).domains)
        limit = scope.most.get(coarse)
        # The hosts in no domain come first in the order, and last here.
        ends = np.searchsorted(part[0], np.arange(-1, count), 'right')
        none, *total = (np.cumsum(np.sort(held_more)[::-1])
                        for held_more in np.split(gain, ends[:-1]))
        total.append(none)
        return cls(total if limit is None else [
            np.minimum(members, most) for members, most in zip(total, limit)])

    def least(self, number: int, domains: np.ndarray, skew: int,
              in_time: InTime) -> int:
        """The minimum number of hosts for this number of members; 0 if nothing
        is proved.

        :param domains: domains whose numbers of members differ by at most the
            skew
        """
        even, found = set(domains.tolist()), []
        for low, high in _ranges(number, len(domains)):
            in_time()
            hosts = self._within(number, even, low, high + skew)
            if hosts:
                found.append(hosts)
        return min(found, default=0)

    def _within(self, number: int, domains: set[int], low: int,
                high: int) -> int:
        """The minimum number of hosts of plans in which each of the domains
        holds from ``low`` to ``high`` members; 0 if no such plan exists."""
        hosts, left, more = 0, number, []
        for domain, total in enumerate(self.total):
            if domain in domains:
                total = np.minimum(total, high)
                needed = int(np.searchsorted(total, low)) + 1 if low else 0
                if needed > len(total):
                    return 0
                left -= int(total[needed - 1]) if needed else 0
                hosts += needed
                more.append(np.diff(total, prepend=0)[needed:])
            else:
                more.append(np.diff(total, prepend=0))
        if left <= 0:
            return hosts
        gains = np.cumsum(np.sort(np.concatenate(more))[::-1])
        further = int(np.searchsorted(gains, left)) + 1
        return 0 if further > len(gains) else hosts + further


def _ranges(number: int, domains: int) -> Iterator[tuple[int, int]]:
    """Ranges (first and last) that together contain all possible values of the
    smallest number of members of a domain."""
    if not domains:
        yield 0, number
        return
    last = number // domains
    width = -(-(last + 1) // limits().nested_ranges)
    for low in range(0, last + 1, width):
        yield low, min(low + width - 1, last)
