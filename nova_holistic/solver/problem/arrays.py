# SPDX-License-Identifier: Apache-2.0
"""The properties of hosts as columns of numbers, computed once and shared."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
import operator

import numpy as np

from nova_holistic.model.cloud.domain import Domain, HOST
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.solver.numerics.tolerances import LARGEST_AMOUNT
from nova_holistic.solver.problem.succession import Succession


_PATH = operator.attrgetter('path')
"""The order of domains of one level, in a quarter of the time that comparisons
of domains take."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """One resource class on every host, in the order of the snapshot.

    ``capacity``, ``free`` and ``max_unit`` are 0 for a host that does not
    offer the class. Amounts whose absolute value exceeds ``LARGEST_AMOUNT``
    are replaced by this limit.

    :ivar offered: [host]: whether the host has an inventory of the class
    :ivar capacity: [host]: (total - reserved) x allocation_ratio
    :ivar free: [host]: capacity less usage; negative if the host is
        over-committed
    :ivar step_size: [host]: step size, at least 1
    """

    offered: np.ndarray
    capacity: np.ndarray
    free: np.ndarray
    min_unit: np.ndarray
    max_unit: np.ndarray
    step_size: np.ndarray

    @classmethod
    def of(cls, found: Sequence[Inventory | None]) -> 'Amounts':
        """Convert the inventories of one resource class to arrays.

        :param found: inventory of each host; None if the host has none
        """
        none = Inventory(0, max_unit=0)
        rows = [i or none for i in found]
        exact = [i.capacity for i in rows]
        return cls(
            _fixed(np.array([i is not None for i in found], dtype=bool)),
            _column(exact),
            _column([c - i.used for c, i in zip(exact, rows)]),
            _column([i.min_unit for i in rows]),
            _column([i.max_unit for i in rows]),
            _column([max(i.step_size, 1) for i in rows]))

    def part(self, numbers: np.ndarray) -> 'Amounts':
        """The amounts of some of the hosts."""
        return Amounts(*(_fixed(getattr(self, field.name)[numbers])
                         for field in fields(self)))

    def renewed(self, succession: Succession, fresh: 'Amounts') -> 'Amounts':
        """The amounts of the later hosts.

        :param fresh: rows of the hosts that are new or changed
        """
        return Amounts(*(
            _fixed(succession.column(getattr(self, field.name),
                                     getattr(fresh, field.name)))
            for field in fields(self)))

    def accepts(self, amount: int) -> np.ndarray:
        """[host]: whether one allocation may have this amount, regardless of
        the free capacity."""
        return (self.offered & (self.min_unit <= amount)
                & (amount <= self.max_unit) & (amount % self.step_size == 0))


@dataclass(frozen=True, slots=True)
class Division:
    """The domains of one level, and the domain of each host.

    :ivar domains: sorted domains
    :ivar index: domain to its index in ``domains``
    :ivar of_host: [host]: index into ``domains``; -1 for a host in no domain
    """

    domains: tuple[Domain, ...]
    index: dict[Domain, int]
    of_host: np.ndarray

    @classmethod
    def of(cls, found: Sequence[Domain | None]) -> 'Division':
        """Number the distinct domains of the hosts.

        :param found: domain of each host; None if it is in no domain
        """
        distinct = set(found)
        distinct.discard(None)
        domains = tuple(sorted(distinct, key=_PATH))
        index = {domain: i for i, domain in enumerate(domains)}
        numbers = {None: -1, **index}
        return cls(domains, index, _fixed(np.array(
            [numbers[d] for d in found], dtype=np.int64)))

    def renewed(self, succession: Succession,
                fresh: Sequence[Domain | None]) -> 'Division':
        """The division of the later hosts.

        :param fresh: domains of the hosts that are new or changed
        """
        still = self.numbers(succession.kept).tolist()
        # These domains remain sorted and distinct.
        kept = [self.domains[i] for i in still]
        found = set(fresh).difference([None], kept)
        domains = tuple(sorted([*kept, *found], key=_PATH))
        index = {domain: i for i, domain in enumerate(domains)}
        # The last element is for hosts in no domain, which have index -1.
        numbers = np.full(len(self.domains) + 1, -1, dtype=np.int64)
        numbers[still] = [index[domain] for domain in kept]
        rows = np.array([-1 if d is None else index[d] for d in fresh],
                        dtype=np.int64)
        return Division(domains, index, _fixed(
            succession.column(numbers[self.of_host], rows)))

    def part(self, hosts: np.ndarray) -> 'Division':
        """The division of some of the hosts."""
        kept = self.numbers(hosts)
        domains = tuple(self.domains[i] for i in kept.tolist())
        # The last element is for hosts in no domain, which have index -1.
        numbers = np.full(len(self.domains) + 1, -1, dtype=np.int64)
        numbers[kept] = np.arange(len(kept))
        return Division(
            domains, {domain: i for i, domain in enumerate(domains)},
            _fixed(numbers[self.of_host[hosts]]))

    def numbers(self, hosts: np.ndarray) -> np.ndarray:
        """The sorted indexes of the domains that contain some of the hosts.

        :param hosts: indexes of the hosts, or a mask of all hosts
        """
        # The last element is for hosts in no domain, which have index -1.
        contain = np.zeros(len(self.domains) + 1, dtype=bool)
        contain[self.of_host[hosts]] = True
        return np.flatnonzero(contain[:-1])

    def counts(self, hosts: Sequence[int]) -> np.ndarray:
        """[domain]: how many of the hosts are in it, each as often as it is
        given; the last number is for hosts in no domain."""
        number = len(self.domains) + 1
        return np.bincount(self.of_host[hosts] % number, minlength=number)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """[domain]: sum of the values of its hosts, which are given for every
        host; the last sum is for hosts in no domain."""
        number = len(self.domains) + 1
        return np.bincount(self.of_host % number, values, number)

    def hosts_in(self, domain: Domain) -> np.ndarray:
        """Indexes of the domain's hosts."""
        number = self.index.get(domain)
        if number is None:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self.of_host == number)

    def mask(self, domains: Collection[Domain]) -> np.ndarray:
        """[host]: whether the host is in one of the domains."""
        # The last element is for hosts in no domain, which have index -1.
        chosen = np.array([*(each in domains for each in self.domains), False])
        return chosen[self.of_host]


class HostArrays:
    """The arrays of some hosts, each computed when it is first needed.

    Threads may share this object, because its arrays never change. It refers
    to the hosts, not to their snapshot, and may outlive the snapshot.

    :ivar index: host name to its index in ``hosts``
    :ivar enabled: [host]: whether the host is enabled
    """

    def __init__(self, levels: tuple[str, ...], hosts: tuple[Host, ...]):
        self.levels = levels
        self.hosts = hosts
        self._tree = Snapshot(levels, ())
        self._amounts: dict[str, Amounts] = {}
        self._divisions: dict[str, Division] = {}

    @classmethod
    def of(cls, snapshot: Snapshot) -> 'HostArrays':
        """The arrays of a snapshot. They are cached, and renewed from those of
        an earlier snapshot of its lineage."""
        return snapshot.once_for_lineage(
            cls, lambda new: cls(new.levels, new.hosts), cls.renewed)

    @cached_property
    def index(self) -> dict[str, int]:
        return {host.name: i for i, host in enumerate(self.hosts)}

    @cached_property
    def enabled(self) -> np.ndarray:
        return _enabled(self.hosts)

    def amounts(self, resource_class: str) -> Amounts:
        """The amounts of a resource class on these hosts."""
        if resource_class not in self._amounts:
            self._amounts[resource_class] = _amounts(
                self.hosts, resource_class)
        return self._amounts[resource_class]

    def division(self, level: str) -> Division:
        """The domains of a level, and the domain of each of these hosts."""
        if level not in self._divisions:
            self._divisions[level] = Division.of(
                self._vertices(level, self.hosts))
        return self._divisions[level]

    def part(self, numbers: np.ndarray) -> 'HostArrays':
        """The arrays of some of the hosts."""
        part = HostArrays(self.levels, tuple(
            self.hosts[h] for h in numbers.tolist()))
        for name, amounts in dict(self._amounts).items():
            part._amounts[name] = amounts.part(numbers)
        for level, division in dict(self._divisions).items():
            part._divisions[level] = division.part(numbers)
        part.__dict__['enabled'] = _fixed(self.enabled[numbers])
        return part

    def renewed(self, snapshot: Snapshot) -> 'HostArrays':
        """The arrays of the hosts of a later snapshot. Only the rows of hosts
        that are new or changed are computed.

        Resource classes and levels that no host has are not kept.
        """
        new = HostArrays(snapshot.levels, snapshot.hosts)
        follows = Succession.of(self.hosts, self.index, new.hosts)
        if follows.same_names:
            new.__dict__['index'] = self.index
        if not len(follows.kept):
            return new
        fresh = [new.hosts[h] for h in follows.fresh.tolist()]
        new.__dict__['enabled'] = self.enabled if follows.same else _fixed(
            follows.column(self.enabled, _enabled(fresh)))
        for name, amounts in dict(self._amounts).items():
            if amounts.offered.any():
                new._amounts[name] = amounts if follows.same else (
                    amounts.renewed(follows, _amounts(fresh, name)))
        if self.levels == new.levels:
            for level, division in dict(self._divisions).items():
                if division.domains:
                    new._divisions[level] = division if follows.same_places \
                        else division.renewed(
                            follows, new._vertices(level, fresh))
        return new

    def _vertices(self, level: str,
                  hosts: Sequence[Host]) -> list[Domain | None]:
        """The domain of each host; hosts of one domain share one object."""
        if level == HOST or level not in self.levels:
            return [self._tree.domain(host, level) for host in hosts]
        known: dict[tuple[str, ...], Domain | None] = {}
        depth = self.levels.index(level) + 1
        found = []
        for host in hosts:
            path = host.location[:depth]
            if path not in known:
                known[path] = self._tree.domain(host, level)
            found.append(known[path])
        return found


def _enabled(hosts: Sequence[Host]) -> np.ndarray:
    return _fixed(np.array([host.enabled for host in hosts], dtype=bool))


def _amounts(hosts: Sequence[Host], resource_class: str) -> Amounts:
    return Amounts.of([h.inventories.get(resource_class) for h in hosts])


def _column(values: list[int]) -> np.ndarray:
    try:
        return _fixed(np.clip(np.array(values, dtype=np.int64),
                              -LARGEST_AMOUNT, LARGEST_AMOUNT))
    except OverflowError:
        return _fixed(np.array(
            [max(-LARGEST_AMOUNT, min(LARGEST_AMOUNT, v)) for v in values],
            dtype=np.int64))


def _fixed(column: np.ndarray) -> np.ndarray:
    column.flags.writeable = False
    return column
