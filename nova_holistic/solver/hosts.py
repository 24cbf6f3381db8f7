# SPDX-License-Identifier: Apache-2.0
"""A snapshot's hosts as columns of numbers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nova_holistic.model.domain import HOST, Domain
from nova_holistic.model.inventory import Inventory
from nova_holistic.model.snapshot import Host, Snapshot

_LARGEST = 2**48
"""Amounts beyond this are cut to it: sums over a cloud then fit an int64, and
Placement's largest total times its largest ratio is below it."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """One resource class on every host, in the order of the snapshot.

    A host that does not offer the class has nothing of it.
    """

    offered: np.ndarray
    capacity: np.ndarray
    free: np.ndarray
    min_unit: np.ndarray
    max_unit: np.ndarray
    step_size: np.ndarray

    def part(self, numbers: np.ndarray) -> 'Amounts':
        """Those of some of the hosts."""
        return Amounts(*(column[numbers] for column in (
            self.offered, self.capacity, self.free, self.min_unit,
            self.max_unit, self.step_size)))

    def accepts(self, amount: int) -> np.ndarray:
        """Where one consumer may have that amount at once, room aside."""
        return (self.offered & (self.min_unit <= amount)
                & (amount <= self.max_unit) & (amount % self.step_size == 0))


@dataclass(frozen=True, slots=True)
class Division:
    """The domains of one level, and which of them holds each host.

    :ivar of_host: index into ``domains``; -1 for a host in none of them
    """

    domains: tuple[Domain, ...]
    index: dict[Domain, int]
    of_host: np.ndarray

    def hosts_in(self, domain: Domain) -> np.ndarray:
        """Indexes of the domain's hosts."""
        number = self.index.get(domain)
        if number is None:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self.of_host == number)


class HostTable:
    """Hosts by index, with their amounts and domains computed once.

    :param hosts: those of the snapshot it is about; None for all
    """

    def __init__(self, snapshot: Snapshot,
                 hosts: tuple[Host, ...] | None = None):
        self.snapshot = snapshot
        self.hosts = snapshot.hosts if hosts is None else hosts
        self._amounts: dict[str, Amounts] = {}
        self._divisions: dict[str, Division] = {}
        self._subsets: dict[frozenset[int], Domain] = {}

    @classmethod
    def of(cls, snapshot: Snapshot) -> 'HostTable':
        """All of the snapshot's hosts, shared by whoever asks: not to be
        given subsets of its own."""
        known = snapshot.lasting(HostTable, lambda: cls(snapshot))
        return known if known.snapshot is snapshot else known.part(
            None, snapshot)

    def part(self, numbers: np.ndarray | None,
             snapshot: Snapshot | None = None) -> 'HostTable':
        """A table of its own for some of the hosts, or for all, that takes
        over what is known here.

        :param snapshot: the same but for the numbers of servers
        """
        snapshot = snapshot or self.snapshot
        if numbers is None:
            part = HostTable(snapshot)
            part._amounts.update(self._amounts)
            part._divisions.update(
                {level: division for level, division
                 in self._divisions.items() if '/' not in level})
            for name in ('index', 'enabled'):
                if name in self.__dict__:
                    part.__dict__[name] = self.__dict__[name]
            return part
        part = HostTable(
            snapshot, tuple(snapshot.hosts[h] for h in numbers.tolist()))
        for name, amounts in self._amounts.items():
            part._amounts[name] = amounts.part(numbers)
        part.__dict__['enabled'] = self.enabled[numbers]
        return part

    def __len__(self) -> int:
        return len(self.hosts)

    @cached_property
    def index(self) -> dict[str, int]:
        return {host.name: i for i, host in enumerate(self.hosts)}

    @cached_property
    def enabled(self) -> np.ndarray:
        return np.array([host.enabled for host in self.hosts], dtype=bool)

    def amounts(self, resource_class: str) -> Amounts:
        if resource_class not in self._amounts:
            self._amounts[resource_class] = _amounts(
                [h.inventories.get(resource_class) for h in self.hosts])
        return self._amounts[resource_class]

    def division(self, level: str) -> Division:
        if level not in self._divisions:
            found = self._vertices(level)
            distinct = set(found)
            distinct.discard(None)
            domains = tuple(sorted(distinct))
            index = {domain: i for i, domain in enumerate(domains)}
            numbers = {None: -1, **index}
            self._divisions[level] = Division(domains, index, np.array(
                [numbers[d] for d in found], dtype=np.int64))
        return self._divisions[level]

    def _vertices(self, level: str) -> list[Domain | None]:
        """The domain of each host; hosts of one share one object."""
        if level == HOST or level not in self.snapshot.levels:
            return [self.snapshot.domain(host, level) for host in self.hosts]
        known: dict[tuple[str, ...], Domain | None] = {}
        depth = self.snapshot.levels.index(level) + 1
        found = []
        for host in self.hosts:
            path = host.location[:depth]
            if path not in known:
                known[path] = self.snapshot.domain(host, level)
            found.append(known[path])
        return found

    def hosts_of(self, level: str, domain: Domain | None) -> np.ndarray:
        """Indexes of hosts in the domain, or in no domain of the level."""
        division = self.division(level)
        if domain is None:
            return np.flatnonzero(division.of_host < 0)
        return division.hosts_in(domain)

    def subset(self, hosts: Collection[Host]) -> Domain:
        """The only domain of a level made up for it: just these hosts.

        The level's name has a slash, which no other has.
        """
        numbers = frozenset(self.index[host.name] for host in hosts)
        if numbers not in self._subsets:
            domain = Domain(f'hosts/{len(self._subsets)}', ('chosen',))
            of_host = np.full(len(self), -1, dtype=np.int64)
            of_host[list(numbers)] = 0
            self._subsets[numbers] = domain
            self._divisions[domain.level] = Division(
                (domain,), {domain: 0}, of_host)
        return self._subsets[numbers]

    def is_subset(self, level: str) -> bool:
        return any(domain.level == level for domain in self._subsets.values())


def _amounts(found: Sequence[Inventory | None]) -> Amounts:
    """Columns of the inventories, None where a host has none."""
    offered = np.array([i is not None for i in found], dtype=bool)
    none = Inventory(0, max_unit=0)
    rows = [i or none for i in found]
    exact = [i.capacity for i in rows]
    capacity = _column(exact)
    return Amounts(
        offered, capacity,
        _column([c - i.used for c, i in zip(exact, rows)]),
        _column([i.min_unit for i in rows]),
        _column([i.max_unit for i in rows]),
        np.maximum(_column([i.step_size for i in rows]), 1))


def _column(values: list[int]) -> np.ndarray:
    try:
        return np.clip(np.array(values, dtype=np.int64), -_LARGEST, _LARGEST)
    except OverflowError:
        return np.array([max(-_LARGEST, min(_LARGEST, v)) for v in values],
                        dtype=np.int64)
