# SPDX-License-Identifier: Apache-2.0
"""The hosts that can take a member, and their room for its kind."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.policy import Policy
from nova_holistic.model import storage_pools
from nova_holistic.solver.problem.hosts import HostTable


@dataclass(frozen=True, slots=True)
class HostCondition:
    """One condition on a member's host.

    :ivar requirement: the requirement, in words that follow 'no host '
    :ivar passed: [host]: whether the host meets it
    :ivar name: the name of a domain or aggregate at the end of these words;
        empty if they end differently
    """

    requirement: str
    passed: np.ndarray
    name: str = ''


class Eligibility:
    """Tests hosts for one requirement at a time, and caches the results."""

    def __init__(self, table: HostTable):
        self._table = table
        self._answers: dict[tuple, np.ndarray] = {}
        self._taking: dict[int, tuple[Requirements, np.ndarray]] = {}

    def tests(self, requirements: Requirements) -> Iterator[HostCondition]:
        """Every condition except room, the most general first."""
        yield HostCondition('is enabled', self._table.enabled)
        if requirements.availability_zone is not None:
            zone = requirements.availability_zone
            passed = self._evaluate(
                ('zone', zone), lambda h: h.availability_zone == zone)
            yield HostCondition(f'is in availability zone {zone}', passed)
        if requirements.location:
            vertex = '/'.join(requirements.location)
            yield HostCondition(f'is in location {vertex}',
                                self._within(requirements.location), vertex)
        for name in sorted(requirements.aggregates):
            passed = self._evaluate(
                ('aggregate', name), lambda h, a=name: a in h.aggregates)
            yield HostCondition(f'is in aggregate {name}', passed, name)
        for trait in sorted(requirements.required_traits):
            yield HostCondition(storage_pools.required(trait),
                                self._has(trait))
        for trait in sorted(requirements.forbidden_traits):
            yield HostCondition(storage_pools.forbidden(trait),
                                ~self._has(trait))
        for name, amount in demands(requirements):
            amounts = self._table.amounts(name)
            yield HostCondition(f'offers {name}', amounts.offered)
            yield HostCondition(
                f'allows {name} {amount} in one allocation (min_unit, '
                'max_unit, step_size)',
                amounts.accepts(amount) | ~amounts.offered)

    def suitable(self, requirements: Requirements) -> np.ndarray:
        """[host]: whether it meets every condition except room."""
        result = np.ones(len(self._table), dtype=bool)
        for test in self.tests(requirements):
            result &= test.passed
        return result

    def taking(self, requirements: Requirements) -> np.ndarray:
        """[host]: whether it has room for a member with these requirements.
        The result is cached for the object."""
        if id(requirements) not in self._taking:
            self._taking[id(requirements)] = (
                requirements, self.room(requirements, 1) > 0)
        return self._taking[id(requirements)][1]

    def suitable_for_any(self,
                         alike: Collection[Requirements]) -> np.ndarray:
        """[host]: whether it meets every condition of some of the
        requirements, except room.

        :param alike: requirements that differ only in the amounts of the same
            resource classes
        """
        first = next(iter(alike))
        found = self.suitable(first)
        if len(alike) > 1:
            possible = self.suitable(replace(
                first, resources=FrozenMapping()))
            for name, _ in demands(first):
                possible &= self._table.amounts(name).offered
            for each in alike:
                # Usually hosts accept all amounts.
                if np.array_equal(found, possible):
                    break
                found |= self.suitable(each)
        return found

    def room(self, requirements: Requirements, count: int,
             alike: Collection[Requirements] = ()) -> np.ndarray:
        """[host]: number of such members that it takes, at most ``count``.

        :param alike: the requirements of these members if they differ in their
            amounts; ``requirements`` has the minimum of each amount
        """
        room = np.where(self.suitable_for_any(alike or [requirements]),
                        count, 0)
        for name, amount in demands(requirements):
            free = np.maximum(self._table.amounts(name).free, 0)
            room = np.minimum(room, free // amount)
        return room

    def _has(self, trait: str) -> np.ndarray:
        return self._evaluate(('trait', trait), lambda h: trait in h.traits)

    def _within(self, location: tuple[str, ...]) -> np.ndarray:
        depth = len(location)
        return self._evaluate(
            ('location', location),
            lambda h: (h.location + (h.name,))[:depth] == location)

    def _evaluate(self, key: tuple, question) -> np.ndarray:
        if key not in self._answers:
            self._answers[key] = np.array(
                [question(host) for host in self._table.hosts], dtype=bool)
        return self._answers[key]


class Admission(dict):
    """Policy to [host]: whether the policy admits the host. Many groups have
    equal policies. The arrays are shared and never change."""

    def __init__(self, table: HostTable):
        self._hosts = table.hosts

    @classmethod
    def of(cls, table: HostTable) -> 'Admission':
        """The admission to the hosts of the table. That to all hosts is kept
        with the snapshot, because many phases of a solve need it."""
        if table.hosts is not table.snapshot.hosts:
            return cls(table)
        return table.snapshot.once_for_hosts(cls, lambda: cls(table))

    def __missing__(self, policy: Policy) -> np.ndarray:
        found = np.array(
            [policy.admits(host) for host in self._hosts], dtype=bool)
        found.flags.writeable = False
        self[policy] = found
        return found


def admits_some(policy: Policy) -> bool:
    """Whether the policy may exclude single hosts."""
    return type(policy).admits is not Policy.admits


def demands(requirements: Requirements) -> list[tuple[str, int]]:
    """Requested resource classes and amounts, without zeros, sorted."""
    return sorted(
        (name, amount) for name, amount in requirements.resources.items()
        if amount)


def amounts_of(found: Iterable[Iterable[tuple[str, int]]],
               names: Sequence[str]) -> np.ndarray:
    """[n, resource class]: amount of each of the demands.

    :param names: the resource classes
    """
    amounts = [dict(each) for each in found]
    return np.array([[each.get(name, 0) for name in names]
                     for each in amounts], dtype=np.int64).reshape(
                         len(amounts), len(names))


def total_demand(members: Iterable[Member]) -> Counter[str]:
    """The amount of each resource class that the members request together."""
    total: Counter[str] = Counter()
    for member in members:
        for name, amount in demands(member.requirements):
            total[name] += amount
    return total


def different_requirements(members: Iterable[Member]) -> list[Requirements]:
    """The different requirements of the members, in their order."""
    # Most equal requirements share one object, and comparisons take time.
    objects = {id(m.requirements): m.requirements for m in members}
    return list(dict.fromkeys(objects.values()))
