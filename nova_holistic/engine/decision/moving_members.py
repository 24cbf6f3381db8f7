# SPDX-License-Identifier: Apache-2.0
"""A member whose server Nova is moving counts at both of its hosts.

The move may succeed, or it may fail or be reverted. A plan therefore keeps
the hard policies with all such servers at their destinations, and also with
all of them at their sources. Policies that keep members together count the
destinations only, as the scheduler's filter does.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.messages.marked_text import MarkedText
from nova_holistic.model.plan import Reason
from nova_holistic.model.policy import Policy
from nova_holistic.table.records import MemberRecord, MemberState

Positions = Mapping[str, str]
"""The host name of each member by path."""

Rules = Sequence[tuple[Scope, Policy]]


def placed(rows: Iterable[MemberRecord]) -> dict[str, str]:
    """The host name of each member by path; the destination if Nova is moving
    its server."""
    return {row.member.path: row.next_place.host for row in rows}


def sources(rows: Iterable[MemberRecord]) -> Positions:
    """The names of the hosts from which Nova is moving servers, by path of the
    member."""
    return FrozenMapping({row.member.path: row.place.host for row in rows
                          if row.destination is not None})


def extra_servers(members: Sequence[MemberRecord]) -> list[str]:
    """Host names, once for each server of the group that is not at a member's
    position: sources of moves, and failed servers."""
    return [*(row.place.host for row in members
              if row.destination is not None),
            *(row.place.host for row in members
              if row.state == MemberState.FAILED and row.instance_uuid)]


def excluded_hosts(group: Group, snapshot: Snapshot, placed: Positions,
                   sources: Positions) -> dict[str, frozenset[str]]:
    """Hosts that no further member may use while servers that Nova moves may
    return to their sources.

    :param group: bound to the snapshot
    :param placed: positions of all members that stay, with destinations of
        moves
    :param sources: source hosts of the members whose servers are moving
    :returns: names of hosts, by the path of a member description
    """
    rules = _rules(group)
    levels = sorted({level for _, rule in rules for level in rule.levels})
    located = _located(snapshot, {**placed, **sources})
    hosts = _hosts_sharing_domains(
        snapshot, {located[path] for path in sources if path in located},
        levels)
    found: dict[str, frozenset[str]] = {}
    for member in group.all_members():
        if member.path in placed or member.description in found:
            continue
        # Hosts in the same domains get the same result.
        broken_at: dict[tuple[Any, ...], bool] = {}
        for domains, host in hosts:
            if domains not in broken_at:
                broken_at[domains] = _violates_more(
                    rules, snapshot, located, {**located, member.path: host})
        refused = frozenset(host.name for domains, host in hosts
                            if broken_at[domains])
        if refused:
            found[member.description] = refused
    return found


def reasons(closed_hosts: Mapping[str, Collection[str]]) -> tuple[Reason, ...]:
    """Additional reasons for a group that cannot be placed.

    :param closed_hosts: names of hosts, by the path of a member description
    """
    return tuple(Reason.of(path, MarkedText(
        f'Nova is moving servers of the group, so {len(hosts)} hosts at their '
        f'sources count as refused for this member until the moves end'))
        for path, hosts in sorted(closed_hosts.items()))


def objections(group: Group, snapshot: Snapshot, hosts: Positions,
               placed: Positions, sources: Positions) -> Sequence[Reason]:
    """The reasons why a plan violates a policy if all moves that Nova has
    begun fail.

    :param group: bound to the snapshot
    :param hosts: host names of all members in the plan, by path
    :param placed: positions of all members that stay, with destinations of
        moves
    :param sources: source hosts of the members whose servers are moving
    """
    if not sources:
        return ()
    before = _located(snapshot, {**placed, **sources})
    after = _located(snapshot, {**hosts, **sources})
    if not _violates_more(_rules(group), snapshot, before, after):
        return ()
    return (Reason.of('', MarkedText(
        'Nova is moving servers of the group: no place satisfies the policies '
        'for every end of these moves')),)


def _rules(group: Group) -> Rules:
    """Hard rules, apart from those that keep members together."""
    return [(scope, rule) for scope in group.scopes()
            for rule in scope.group.rules
            if rule.hard and not rule.keeps_together]


def _located(snapshot: Snapshot, positions: Positions) -> dict[str, Host]:
    known = {host.name: host for host in snapshot.hosts}
    return {path: known[name] for path, name in positions.items()
            if name in known}


def _hosts_sharing_domains(snapshot: Snapshot, hosts: Iterable[Host],
                           levels: Sequence[str]
                           ) -> list[tuple[tuple[Any, ...], Host]]:
    """The hosts that share a domain of these levels with one of the given
    hosts, each after the tuple of its domains."""
    own = {snapshot.domain(host, level) for host in hosts for level in levels}
    own.discard(None)
    found = []
    for host in snapshot.hosts:
        domains = tuple(snapshot.domain(host, level) for level in levels)
        if own.intersection(domains):
            found.append((domains, host))
    return found


def _violates_more(rules: Rules, snapshot: Snapshot,
                   before: Mapping[str, Host],
                   after: Mapping[str, Host]) -> bool:
    """Whether some rule has more violations with the hosts after the change
    than with the hosts before."""
    for scope, rule in rules:
        count = rule.check(scope, after, snapshot).count
        if count and count > rule.check(scope, before, snapshot).count:
            return True
    return False
