# SPDX-License-Identifier: Apache-2.0
"""An order of moves in which each move is possible after the moves before it.

A move is possible if its destination has capacity for the server while the
source still has it, and if it adds no violation of a hard policy. The
scheduler's filter checks a destination without the moved server in the group,
so the move may not violate a policy more than the group without that server
does either.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy import Policy
from nova_holistic.table.records import MemberRecord

MOST_STATES = 4096
"""Maximum number of sets of completed moves that the search examines."""


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a server, which may change its resources.

    :ivar source: name of the current host of the server
    :ivar destination: name of the host to which it moves
    :ivar resources: resources of the server after the move; None if they do
        not change
    """

    member: str
    instance_uuid: str
    source: str
    destination: str
    resources: FrozenMapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class MoveSequence:
    """The longest order that was found.

    :ivar moves: moves in an order in which each is possible after those before
        it
    :ivar obstacles: the other moves, each with the reason why it is not
        possible after them
    """

    moves: tuple[Move, ...]
    obstacles: Mapping[Move, str]


@dataclass(frozen=True, slots=True)
class MoveContext:
    """The group and the cloud before the first move.

    :ivar group: the group with the hard policies to keep, not bound to a
        snapshot
    :ivar members: members with allocations
    :ivar snapshot: snapshot with all servers and the hosts of all members
    :ivar given_up: planned members whose places are free before the first move
    :ivar extra_servers: hosts of additional servers of the group
    """

    group: Group
    members: Sequence[MemberRecord]
    snapshot: Snapshot
    given_up: Sequence[MemberRecord] = ()
    extra_servers: Sequence[str] = ()


def ordered(context: MoveContext, moves: Sequence[Move]
            ) -> tuple[Sequence[Move], Sequence[Reason]]:
    """The moves in such an order, or the reasons why none exists."""
    sequence = longest_sequence(context, moves)
    if not sequence.obstacles:
        return sequence.moves, ()
    return (), [Reason.of('', MarkedText(
        'no order of the live migrations satisfies the policies and has '
        'capacity at each step')), *(
            Reason.of(move.member, obstacle_text(move, why))
            for move, why in sequence.obstacles.items())]


def obstacle_text(move: Move, why: str) -> MarkedText:
    """The sentence about a move that is not possible."""
    return format_message('it cannot move to host {:name} next: {}',
                          move.destination, why)


def longest_sequence(context: MoveContext,
                     moves: Sequence[Move]) -> MoveSequence:
    """As many of the moves as possible, in such an order.

    The search goes through sets of completed moves, depth first. It is
    complete if there are at most ``MOST_STATES`` of them.
    """
    check = MoveCheck(context)
    done: list[Move] = []
    furthest: list[Move] = []
    seen = {frozenset[Move]()}
    choices = [iter(moves)]
    while choices and len(furthest) < len(moves):
        completed = frozenset(done)
        for move in choices[-1]:
            after = completed | {move}
            if (move in completed or after in seen
                    or len(seen) >= MOST_STATES
                    or check.obstacle(done, move)):
                continue
            seen.add(after)
            done.append(move)
            choices.append(iter(moves))
            if len(done) > len(furthest):
                furthest = list(done)
            break
        else:
            choices.pop()
            if done:
                done.pop()
    return MoveSequence(tuple(furthest), FrozenMapping({
        move: check.obstacle(furthest, move) or 'the search was given up'
        for move in moves if move not in furthest}))


class MoveCheck:
    """Whether a move is possible after other moves."""

    def __init__(self, context: MoveContext):
        snapshot, members = context.snapshot, context.members
        self._hosts = {host.name: host for host in snapshot.hosts}
        self._there = {row.member.path: self._hosts[row.place.host]
                       for row in members}
        self._demands = {row.member.path: row.member.requirements.resources
                         for row in members}
        self._given_up = context.given_up
        # Hosts by UUID of the sharing provider and resource class.
        self._sharing: dict[tuple[str, str], frozenset[str]] = {}
        self._snapshot = snapshot.without_servers([
            *(row.place.host for row in (*members, *self._given_up)),
            *context.extra_servers])
        bound = bind(context.group.only(self._there), self._snapshot)
        self._rules: list[tuple[Scope, Policy]] = [
            (scope, rule) for scope in bound.scopes()
            for rule in scope.group.rules if rule.hard]

    def obstacle(self, done: Sequence[Move], move: Move) -> str:
        """The reason why a move is not possible after others; empty if it is
        possible."""
        free = self.missing_resource(done, move)
        if free:
            return f'the destination has too little free {free}'
        before = {**self._there, **{
            each.member: self._hosts[each.destination] for each in done}}
        after = {**before, move.member: self._hosts[move.destination]}
        without = {path: host for path, host in before.items()
                   if path != move.member}
        for scope, rule in self._rules:
            count = rule.check(scope, after, self._snapshot).count
            if count and count > min(
                    rule.check(scope, each, self._snapshot).count
                    for each in (before, without)):
                return f'it would violate {rule.title}'
        return ''

    def missing_resource(self, done: Sequence[Move], move: Move) -> str:
        """The resource class of which the destination has too little after
        other moves; empty if it has enough."""
        host = self._hosts[move.destination]
        for name, amount in self._demand_after(move).items():
            inventory, hosts = self._inventory(host, name)
            if inventory is None:
                return name
            used = inventory.used + self._change(done, hosts, name)
            capacity = ((inventory.total - inventory.reserved)
                        * inventory.allocation_ratio)
            if amount and used + amount > capacity:
                return name
        return ''

    def _inventory(self, host: Host, name: str
                   ) -> tuple[Inventory | None, Collection[str]]:
        """The inventory from which a server on the host gets a resource, and
        the names of the hosts whose servers use it; None if the host has no
        such resource."""
        for each in host.providers:
            # A host contains only the shared classes that it uses.
            if each.sharing and name in each.inventories:
                return each.inventories[name], self._sharers(each.uuid, name)
        return host.inventories.get(name), (host.name,)

    def _sharers(self, provider: str, name: str) -> frozenset[str]:
        """Names of the hosts that use a resource of a sharing provider.

        :param provider: UUID of the provider
        """
        key = provider, name
        if key not in self._sharing:
            self._sharing[key] = frozenset(
                host.name for host in self._hosts.values()
                if any(each.uuid == provider and name in each.inventories
                       for each in host.providers))
        return self._sharing[key]

    def _change(self, done: Sequence[Move], hosts: Collection[str],
                name: str) -> int:
        """The change of the usage of a resource on hosts since the first
        move."""
        freed = sum(row.member.requirements.resources.get(name, 0)
                    for row in self._given_up if row.place.host in hosts)
        return (sum(self._demand_after(each).get(name, 0) for each in done
                    if each.destination in hosts)
                - sum(self._demands[each.member].get(name, 0) for each in done
                      if each.source in hosts) - freed)

    def _demand_after(self, move: Move) -> Mapping[str, int]:
        return (self._demands[move.member] if move.resources is None
                else move.resources)
