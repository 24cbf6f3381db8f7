# SPDX-License-Identifier: Apache-2.0
"""The hosts of a snapshot by index, with their properties as arrays."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.solver.problem.arrays import Amounts, Division, HostArrays
from nova_holistic.solver.problem.rows import Atom


class HostTable:
    """Hosts by index, with shared arrays and with its own subsets.

    :ivar hosts: all or some hosts of the snapshot
    :ivar index: host name to its index in ``hosts``
    :ivar enabled: [host]: whether the host is enabled
    """

    def __init__(self, snapshot: Snapshot, arrays: HostArrays):
        self.snapshot = snapshot
        self.hosts = arrays.hosts
        self._arrays = arrays
        self._subsets: dict[frozenset[int], Domain] = {}
        self._number = 0
        # A cache of arrays and subsets, because a search reads them often.
        self._amounts: dict[str, Amounts] = {}
        self._occupied: dict[str, np.ndarray] = {}
        self._divisions: dict[str, Division] = {}
        self._uplinks: dict[str, np.ndarray] = {}

    @classmethod
    def of(cls, snapshot: Snapshot) -> 'HostTable':
        """A new table of all hosts of the snapshot."""
        return cls(snapshot, HostArrays.of(snapshot))

    def part(self, numbers: np.ndarray | None) -> 'HostTable':
        """A new table of some of the hosts, with the same subsets. None means
        all hosts, without subsets."""
        if numbers is None:
            return HostTable(self.snapshot, self._arrays)
        part = HostTable(self.snapshot, self._arrays.part(numbers))
        part.occupy({name: amounts[numbers]
                     for name, amounts in self._occupied.items()})
        for domain in self._subsets.values():
            part._add(domain, frozenset(np.flatnonzero(self._divisions[
                domain.level].of_host[numbers] == 0).tolist()))
        return part

    def under(self, snapshot: Snapshot) -> 'HostTable':
        """A new table of the same hosts, without subsets.

        :param snapshot: it differs at most in the usage of its uplinks
        """
        return HostTable(snapshot, self._arrays)

    def occupy(self, taken: Mapping[str, np.ndarray]) -> None:
        """Reduce the free amounts of a new table.

        :param taken: resource class to [host]: amount
        """
        self._occupied = {**taken}
        for name, amount in taken.items():
            known = self.amounts(name)
            self._amounts[name] = replace(known, free=known.free - amount)

    def __len__(self) -> int:
        return len(self.hosts)

    @cached_property
    def index(self) -> dict[str, int]:
        return self._arrays.index

    def indexes(self, hosts: Iterable[Host]) -> np.ndarray:
        """[n]: index of each of the hosts, which the table contains."""
        return np.array([self.index[host.name] for host in hosts],
                        dtype=np.int64)

    @cached_property
    def enabled(self) -> np.ndarray:
        return self._arrays.enabled

    def amounts(self, resource_class: str) -> Amounts:
        """The amounts of a resource class on these hosts, with the free
        amounts that ``occupy`` reduced."""
        if resource_class not in self._amounts:
            self._amounts[resource_class] = self._arrays.amounts(
                resource_class)
        return self._amounts[resource_class]

    def size(self, demands: Iterable[tuple[str, int]]) -> float:
        """The size of a member: the sum over the resource classes of the share
        of the largest host's capacity that it requests."""
        return sum(amount / max(1, int(self.amounts(name).capacity.max(
            initial=1))) for name, amount in demands)

    def fits(self, demands: Iterable[tuple[str, int]]) -> np.ndarray:
        """[host]: whether these amounts are free."""
        found = np.ones(len(self), dtype=bool)
        for name, amount in demands:
            found &= self.amounts(name).free >= amount
        return found

    def division(self, level: str) -> Division:
        """The domains of a level, and the domain of each of these hosts.

        :param level: a level of the topology, or of a subset of hosts
        """
        if level not in self._divisions:
            self._divisions[level] = self._arrays.division(level)
        return self._divisions[level]

    def free_uplinks(self, level: str) -> np.ndarray:
        """[domain of the level]: free capacity of its uplink in Mbit/s; the
        last element is 0, for hosts in no domain. An uplink without a link in
        the snapshot has no limit."""
        if level not in self._uplinks:
            links = map(self.snapshot.uplinks(level).get,
                        self.division(level).domains)
            self._uplinks[level] = np.array([*(
                np.inf if link is None else link.uplink_mbps - link.used_mbps
                for link in links), 0.0])
        return self._uplinks[level]

    def domain_number(self, atom: Atom) -> int | None:
        """Index of the atom's domain in the division of its level. It is -1,
        for the hosts in no domain, if the atom has no domain; and None if no
        host is in the domain."""
        if atom.domain is None:
            return -1
        return self.division(atom.level).index.get(atom.domain)

    def hosts_of(self, level: str, domain: Domain | None) -> np.ndarray:
        """Indexes of the hosts in the domain. If the domain is None, indexes
        of the hosts in no domain of the level."""
        division = self.division(level)
        if domain is None:
            return np.flatnonzero(division.of_host < 0)
        return division.hosts_in(domain)

    def subset(self, numbers: frozenset[int]) -> Domain:
        """A domain of exactly the hosts of these indexes, the only one of an
        artificial level.

        The level's name contains a slash, unlike names of all other levels.
        """
        if numbers not in self._subsets:
            self._add(Domain(f'hosts/{self._number}', ('chosen',)), numbers)
        return self._subsets[numbers]

    def _add(self, domain: Domain, numbers: frozenset[int]) -> None:
        of_host = np.full(len(self), -1, dtype=np.int64)
        of_host[[*numbers]] = 0
        self._number += 1
        self._subsets[numbers] = domain
        self._divisions[domain.level] = Division(
            (domain,), {domain: 0}, of_host)

    def is_subset(self, level: str) -> bool:
        """Whether the level is the artificial level of a subset."""
        return any(domain.level == level for domain in self._subsets.values())

    def alternated(self, order: np.ndarray) -> np.ndarray:
        """Host indexes with the first host of each domain of the finest level
        above hosts before the second host of any such domain.

        :param order: host indexes; each domain keeps this order
        """
        levels = self.snapshot.levels
        if len(levels) < 2:
            return order
        return order[in_turns(self.division(levels[-2]).of_host[order])]


def in_turns(group: np.ndarray) -> np.ndarray:
    """Indexes of the elements with the first element of each group before the
    second element of any group.

    :param group: [element]: number of its group
    """
    return by_group(ranks(group))


def ranks(group: np.ndarray) -> np.ndarray:
    """[element]: number of earlier elements of the same group.

    :param group: [element]: number of its group
    """
    together = by_group(group)
    ordered, position = group[together], np.arange(len(group))
    is_first = np.diff(ordered, prepend=-2) > 0
    found = np.empty(len(group), dtype=np.int64)
    found[together] = position - np.maximum.accumulate(position * is_first)
    return found


def by_group(group: np.ndarray) -> np.ndarray:
    """Indexes of the elements in the order of their groups; the elements of a
    group keep their order.

    :param group: [element]: number of its group, at least -1
    """
    # Sorting numbers of 16 bits takes a tenth of the time.
    is_small = group.max(initial=0) <= np.iinfo(np.int16).max
    return np.argsort(group.astype(np.int16) if is_small else group,
                      kind='stable')
