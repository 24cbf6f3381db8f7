# SPDX-License-Identifier: Apache-2.0
"""A snapshot's hosts as columns of numbers."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nova_holistic.model.domain import Domain
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
    """Hosts by index, with their amounts and domains computed once."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self.hosts = snapshot.hosts
        self.index = {host.name: i for i, host in enumerate(self.hosts)}
        self._amounts: dict[str, Amounts] = {}
        self._divisions: dict[str, Division] = {}
        self._subsets: dict[frozenset[int], Domain] = {}

    def __len__(self) -> int:
        return len(self.hosts)

    @cached_property
    def enabled(self) -> np.ndarray:
        return np.array([host.enabled for host in self.hosts], dtype=bool)

    def amounts(self, resource_class: str) -> Amounts:
        if resource_class not in self._amounts:
            found = [h.inventories.get(resource_class) for h in self.hosts]
            self._amounts[resource_class] = Amounts(
                np.array([i is not None for i in found], dtype=bool),
                _column(i.capacity if i else 0 for i in found),
                _column(i.free if i else 0 for i in found),
                _column(i.min_unit if i else 1 for i in found),
                _column(i.max_unit if i else 0 for i in found),
                _column(max(1, i.step_size) if i else 1 for i in found))
        return self._amounts[resource_class]

    def division(self, level: str) -> Division:
        if level not in self._divisions:
            found = [self.snapshot.domain(host, level) for host in self.hosts]
            domains = tuple(sorted({d for d in found if d is not None}))
            index = {domain: i for i, domain in enumerate(domains)}
            self._divisions[level] = Division(domains, index, np.array(
                [-1 if d is None else index[d] for d in found],
                dtype=np.int64))
        return self._divisions[level]

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


def _column(values) -> np.ndarray:
    return np.array([max(-_LARGEST, min(_LARGEST, v)) for v in values],
                    dtype=np.int64)
