# SPDX-License-Identifier: Apache-2.0
"""The cells of hosts that a program of numbers distinguishes, and what the
hosts of a cell can hold together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.model.group import Group
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.pricing import Pricing
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.decomposition.partition import (
    divided, is_host_filter)
from nova_holistic.solver.host_counts.counted_members import CountedMembers
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.numerics.tolerances import SUM_ROUNDING
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.problem.eligibility import Admission, Eligibility
from nova_holistic.solver.problem.kinds import Kinds


@dataclass(frozen=True, slots=True, eq=False)
class CountedHosts:
    """Cells: sets of hosts that are in the same domains of the levels with few
    domains, and that suit the same members apart from their room.

    :ivar hosts: indexes of the hosts that can take some member
    :ivar cell: [host]
    :ivar room: [kind, host]: maximum number of members
    :ivar domain_of: level with few domains to [cell]: its domain; -1 for none
    :ivar size: [cell]: number of hosts
    """

    hosts: np.ndarray
    cell: np.ndarray
    room: np.ndarray
    domain_of: dict[str, np.ndarray]
    size: np.ndarray

    @classmethod
    def of(cls, members: CountedMembers, columns: Columns, group: Group,
           in_time: InTime) -> 'CountedHosts':
        """Divide the hosts by suitability, and then by levels as long as there
        are few cells."""
        kinds, hosts = members.kinds, columns.hosts
        of = np.zeros(len(hosts), dtype=np.int64)
        for mask in (*_masks(kinds, group, hosts, in_time),
                     *_dividing(members, hosts)):
            of = divided(of, mask.astype(np.int64))
        known: dict[str, np.ndarray] = {}
        divisions = {level: kinds.table.division(level).of_host[hosts]
                     for level in members.levels}
        for level, division in sorted(divisions.items(), key=lambda each: (
                len(np.unique(each[1])), each[0])):
            finer = divided(of, division)
            if len(np.unique(division)) <= limits().whole_domains and (
                    finer.max(initial=0) < limits().counted_cells):
                of, known[level] = finer, division
        _, first, number = np.unique(of, return_index=True,
                                     return_counts=True)
        return cls(hosts, of, kinds.room[:, hosts], {
            level: each[first] for level, each in known.items()}, number)

    @property
    def most_members(self) -> np.ndarray:
        """[kind, cell]: maximum number of members on one host."""
        found = np.zeros((len(self.room), len(self.size)), dtype=np.int64)
        for most, room in zip(found, self.room):
            np.maximum.at(most, self.cell, room)
        return found

    def most(self, value: np.ndarray) -> list[np.ndarray]:
        """For each cell, [number]: the maximum value that this number of its
        hosts can hold, from 0 to all.

        :param value: [host]: the maximum value that the host can hold
        """
        found = []
        for c in range(len(self.size)):
            best = np.sort(value[self.cell == c])[::-1]
            found.append(np.concatenate(([0.0], np.cumsum(best))))
        return found


def host_values(kinds: Kinds, columns: Columns, host_types: HostTypes | None,
                prices: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each price vector, [host]: the maximum price of members on it.

    :param host_types: types of the hosts of the columns; None if the kinds are
        too many for patterns. Then only the amounts of a resource class can be
        a price vector, because a host holds at most its free amount.
    :param prices: each [kind]; at least 0
    """
    if host_types is None:
        return [columns.free[:, c].astype(float)
                for c in range(len(kinds.names))]
    pricing = Pricing(replace(
        host_types, opening=np.zeros(len(host_types))))
    found = []
    for each in prices:
        # Without patterns, the bounds of the linear program are sufficient.
        gains = pricing(np.repeat(
            each[:, None], host_types.cell.max(initial=0) + 1, axis=1),
            max_types=0)
        found.append(gains.most[host_types.of_host] * (1 + SUM_ROUNDING))
    return found


def _dividing(members: CountedMembers,
              hosts: np.ndarray) -> Iterator[np.ndarray]:
    """Masks of the hosts in domains that may divide members with traffic."""
    for each in members.traffic:
        domain = members.kinds.table.division(each.level).of_host[hosts]
        yield (domain < 0) | each.divides[domain]


def _masks(kinds: Kinds, group: Group, hosts: np.ndarray,
           in_time: InTime) -> list[np.ndarray]:
    """Distinct masks of hosts that suit some requirements, or that a policy
    admits."""
    eligibility = Eligibility(kinds.table)
    found = [eligibility.suitable(kind.requirements)[hosts]
             for kind in kinds.kinds]
    filters = {each for scope in group.scopes()
               for each in scope.group.policies if is_host_filter(each)}
    admitted = Admission.of(kinds.table)
    for each in filters:
        in_time()
        found.append(admitted[each][hosts])
    some = {mask.tobytes(): mask for mask in found if not mask.all()}
    return [some[key] for key in sorted(some)]
