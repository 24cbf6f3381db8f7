# SPDX-License-Identifier: Apache-2.0
"""Batches of members that no policy connects with other members."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import Member
from nova_holistic.model.relationship import Relationship
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.numerics.tolerances import PRICE_DIGITS
from nova_holistic.solver.problem.eligibility import demands, total_demand
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.rows import ScopedPolicy


@dataclass(frozen=True, slots=True)
class Batch:
    """Members that are placed together.

    :ivar closes: levels whose domains policies of the members close to others
    :ivar parts: the independent parts of the members, if there are several
    """

    members: tuple[Member, ...]
    closes: frozenset[str] = frozenset()
    parts: tuple['Batch', ...] = ()

    @property
    def paths(self) -> set[str]:
        """Paths of the members."""
        return {m.path for m in self.members}

    @classmethod
    def of(cls, parts: Sequence['Batch']) -> 'Batch':
        """A batch of these parts, of which there is at least one."""
        if len(parts) == 1:
            return parts[0]
        return cls(tuple(m for part in parts for m in part.members),
                   frozenset().union(*(part.closes for part in parts)),
                   tuple(parts))

    def part_of(self, path: str) -> 'Batch':
        """The part with the member of this path."""
        return next(part for part in self.parts if path in part.paths)

    def without(self, part: 'Batch') -> 'Batch':
        """The batch without one of its several parts."""
        return Batch.of([each for each in self.parts if each is not part])

    def within(self, group: Group) -> Group:
        """The group with these members only."""
        return group.only(self.paths)

    def policies(self, known: Incumbent) -> list[ScopedPolicy]:
        """The policies that apply to these members.

        :param known: the incumbent of the whole group
        """
        paths = self.paths
        return [each for each in known.policies if each.scope.members
                and each.scope.members[0].path in paths]


def with_failed(first: Sequence[Batch], failed: Batch,
                at: int | None) -> list[Batch]:
    """The batches to place before all others after a part failed.

    :param first: the batches that the last attempt placed before all others
    :param failed: the part for which no hosts were found
    :param at: the position in ``first`` of the batch that is or contains the
        failed part; None if no batch does
    """
    if at is None:
        return [failed, *first]
    together = Batch.of([
        part for each in first[:at + 1] for part in each.parts or (each,)])
    if len(together.members) > limits().batch_members:
        others = [each.without(failed) if failed in each.parts else each
                  for each in first if each is not failed]
        return [failed, *others]
    return [together, *first[at + 1:]]


def next_order(first: Sequence[Batch], failed: Batch, at: int | None,
               tried: Collection[Sequence[str]]) -> list[Batch]:
    """The batches to place before all others after a part failed: in another
    order, if it was not tried; otherwise as ``with_failed``.

    :param tried: the orders that were tried, each as ``order_of`` returns it
    """
    if at:
        order = [first[at], *first[:at], *first[at + 1:]]
        if order_of(order) not in tried:
            return order
    return with_failed(first, failed, at)


def order_of(first: Sequence[Batch]) -> tuple[str, ...]:
    """Names of the batches in their order: the paths of all members."""
    return tuple(m.path for each in first for m in each.members)


def open_hosts(batch: Batch, known: Incumbent, table: HostTable,
               where: Mapping[str, Host]) -> np.ndarray:
    """[host]: whether members of the batch may use it. They may not use
    domains that policies of other members reserve, nor domains with other
    members if policies of the batch close these domains.

    :param where: path to host of the placed members
    """
    paths = batch.paths
    found = np.ones(len(table), dtype=bool)
    for each in known.policies:
        if each.policy.closes and each.scope.members and (
                each.scope.members[0].path not in paths):
            for domain in each.policy.reserves(
                    each.scope, where, known.snapshot):
                found[table.hosts_of(domain.level, domain)] = False
    for level in batch.closes:
        of_host = table.division(level).of_host
        found &= ~np.isin(of_host, of_host[[
            table.index[host.name] for path, host in where.items()
            if path not in paths]])
    return found


def is_connected(incumbent: Incumbent) -> bool:
    """Whether policies connect all members, or too many of them for batches.
    Otherwise, the group has independent parts."""
    return len(batches(incumbent, 1)) == 1


def batches(incumbent: Incumbent, most: int,
            constructs: bool = False) -> list[Batch]:
    """The members in batches; a single batch if policies connect too many
    members.

    Members whose policies close domains to others come first, then members
    with traffic, then all others.

    :param most: maximum number of members of a batch with several parts
    :param constructs: whether the members have no hosts yet. Then members with
        traffic have separate batches, the next batches are those of members
        with preferences, and parts with large members come first among the
        others: small members use the capacity that large ones leave
    """
    parts = _parts(incumbent)
    if max(map(len, parts), default=0) > limits().batch_members:
        return [Batch(tuple(incumbent.members))]
    of_path = {path: number for number, part in enumerate(parts)
               for path in part}
    closes: dict[int, set[str]] = {}
    traffic: set[int] = set()
    preferring: set[int] = set()
    for each in incumbent.policies:
        if each.scope.members:
            part = of_path[each.scope.members[0].path]
            if each.policy.closes:
                closes.setdefault(part, set()).add(each.policy.closes)
            if _limits_traffic(each):
                traffic.add(part)
            if constructs and not each.policy.hard:
                preferring.add(part)
    members = incumbent.members
    if constructs:
        size = _mean_sizes(members, of_path)
        members = sorted(members, key=lambda m: -size[of_path[m.path]])
    found = []
    others = set(of_path.values()) - closes.keys() - traffic
    ordered = [[m for m in members if of_path[m.path] in special]
               for special in (closes.keys() - traffic, traffic,
                               others & preferring, others - preferring)]
    if not constructs:
        ordered[1:] = [ordered[1] + ordered[3]]
    for some in ordered:
        found.extend(_batches(some, of_path, closes, most))
    return found


def _mean_sizes(members: Sequence[Member],
                of_path: Mapping[str, int]) -> list[float]:
    """[part]: the mean share of one of its members in the amounts that all
    members request, summed over the resource classes.

    :param of_path: member path to part
    """
    total = total_demand(members)
    number = max(of_path.values(), default=-1) + 1
    sizes, counts = np.zeros(number), np.zeros(number)
    for member in members:
        part = of_path[member.path]
        counts[part] += 1
        sizes[part] += sum(amount / total[name] for name, amount in demands(
            member.requirements) if amount)
    return np.round(sizes / counts, PRICE_DIGITS).tolist()


def _limits_traffic(each: ScopedPolicy) -> bool:
    """Whether it is a hard relationship with traffic. The traffic of different
    parts shares the uplinks."""
    return each.policy.hard and isinstance(
        each.policy, Relationship) and bool(each.policy.traffic_mbps)


def _batches(members: Sequence[Member], of_path: dict[str, int],
             closes: dict[int, set[str]], most: int) -> Iterator[Batch]:
    of_part: dict[int, list[Member]] = {}
    for member in members:
        of_part.setdefault(of_path[member.path], []).append(member)
    inside: list[Batch] = []
    for part, some in of_part.items():
        if inside and sum(len(each.members) for each in inside) + len(
                some) > most:
            yield Batch.of(inside)
            inside = []
        inside.append(Batch(
            tuple(some), frozenset(closes.get(part, set()))))
    if inside:
        yield Batch.of(inside)


def _parts(incumbent: Incumbent) -> list[list[str]]:
    """The parts: paths of members that policies connect, directly or through
    other members."""
    part_of = {m.path: [m.path] for m in incumbent.members}
    for each in incumbent.policies:
        merged: list[str] = []
        for some in {id(part): part for part in (
                part_of[m.path] for m in each.scope.members)}.values():
            merged.extend(some)
        part_of.update(dict.fromkeys(merged, merged))
    return [*{id(part): part for part in part_of.values()}.values()]
