# SPDX-License-Identifier: Apache-2.0
"""Check one member at one host against the policies of its group."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass, field, replace

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Link, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.identity_cache import IdentityCache
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.model.policy import Policy, Violations
from nova_holistic.policies.exclusive import Exclusive

REMEMBERED_GROUPS = 256


@dataclass(frozen=True, slots=True)
class Cloud:
    """All hosts of the cloud.

    :ivar hosts: the hosts of the snapshot by name
    """

    snapshot: Snapshot
    hosts: Mapping[str, Host]


@dataclass(frozen=True, slots=True)
class PolicyEvaluation:
    """Compares the violations with the member at a host to those without the
    member. Violations that other members cause do not count against the host.

    :ivar levels: levels of the topology, coarse to fine
    :ivar path: path of the member
    :ivar others: host of each other member that uses capacity, by path
    :ivar links: uplinks of domains
    :ivar outside_servers: hosts with servers that do not belong to the group,
        by the domain that the member would reserve
    :ivar sources: source host of each other member that is being moved and may
        return there, by path; ``others`` has its destination
    :ivar cloud: all hosts, for policies that depend on more than the hosts of
        members; without it, those policies are not checked
    :ivar placed: ``others`` with numbers of members that were counted before;
        without it, each evaluation counts them
    :ivar _objections: earlier results by host: filters check chosen alternates
        again
    :ivar _allowing: results of ``Policy.allows_another`` by scope and policy
    :ivar _counted: ``placed``, or the same made from ``others``
    :ivar _if_moves_fail: the evaluation with moving members at their sources
    """

    group: Group
    levels: tuple[str, ...]
    path: str
    others: Mapping[str, Host]
    links: tuple[Link, ...] = ()
    outside_servers: Mapping[Domain, Sequence[Host]] = FrozenMapping()
    cloud: Cloud | None = None
    sources: Mapping[str, Host] = FrozenMapping()
    placed: PlacedMembers | None = field(
        default=None, repr=False, compare=False)
    _objections: dict[Host, tuple[str, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False)
    _allowing: dict[tuple[str, int], Callable[[Host], bool] | None] = field(
        default_factory=dict, init=False, repr=False, compare=False)
    _counted: list[PlacedMembers] = field(
        default_factory=list, init=False, repr=False, compare=False)
    _if_moves_fail: list['PolicyEvaluation'] = field(
        default_factory=list, init=False, repr=False, compare=False)

    @property
    def rules(self) -> Iterator[Policy]:
        """Every rule that applies to the member."""
        for scope in self._scopes():
            yield from scope.group.rules

    @property
    def is_local(self) -> bool:
        """Whether no rule of the member depends on all hosts of the cloud."""
        return all(rule.local for rule in self.rules)

    def reserves(self, host: Host) -> frozenset[Domain]:
        """Domains that the member would newly reserve on the host: servers
        outside the group may be there now, but not with the member."""
        reserving = [(scope, policy) for scope in self._scopes()
                     for policy in scope.group.rules
                     if type(policy).reserves is not Policy.reserves]
        domains = frozenset[Domain]().union(*(
            self._reserved_on(host, *each) for each in reserving))
        return frozenset(domain for domain in domains if not any(
            self._has_reserved(domain, *each) for each in reserving))

    def _reserved_on(self, host: Host, scope: Scope,
                     policy: Policy) -> frozenset[Domain]:
        """Domains that the policy reserves for the member on the host."""
        snapshot = Snapshot(self.levels, (host,))
        if not _reserves_all_domains(policy):
            return policy.reserves(scope, {self.path: host}, snapshot)
        return frozenset({snapshot.domain(host, policy.closes)} - {None})

    def _has_reserved(self, domain: Domain, scope: Scope,
                      policy: Policy) -> bool:
        """Whether the policy reserves the domain for other members."""
        if not _reserves_all_domains(policy):
            return domain in policy.reserves(scope, self.others, Snapshot(
                self.levels, tuple(self.others.values())))
        return bool(self._placed_members.at(
            scope, policy.closes).get(domain))

    @property
    def _placed_members(self) -> PlacedMembers:
        if not self._counted:
            self._counted.append(PlacedMembers(
                scopes_of_members(self.group), self.levels, self.others
            ) if self.placed is None else self.placed)
        return self._counted[0]

    def objections(self, host: Host) -> tuple[str, ...]:
        """The violations of hard policies that the member adds on the host,
        one line per policy.

        A move of another member may succeed or fail. So the rules are checked
        with these members at their destinations, and then at their sources.
        Rules that keep members together are checked only with the
        destinations.
        """
        if host not in self._objections:
            found = self._objections_at(host)
            if self.sources and not found:
                found = self._with_failed_moves()._objections_at(
                    host, together=False)
            self._objections[host] = found
        return self._objections[host]

    def _with_failed_moves(self) -> 'PolicyEvaluation':
        if not self._if_moves_fail:
            placed = self._placed_members.variant(self.sources)
            self._if_moves_fail.append(replace(
                self, others=placed.hosts, sources=FrozenMapping(),
                placed=placed))
        return self._if_moves_fail[0]

    def _objections_at(self, host: Host, together: bool = True
                       ) -> tuple[str, ...]:
        """The objections with other members on the hosts in ``others``.

        :param together: whether to check rules that keep members together
        """
        rules = [
            (policy, scope) for policy, scope in self._checked_rules()
            if policy.hard and (together or not policy.keeps_together)
            and not self._allows(policy, scope, host)]
        return tuple(
            f'{comparison.policy.title}: '
            f'{"; ".join(found.messages) or found.count}'
            for comparison in self._comparisons(host, rules)
            # Without a violation, the member adds none.
            if (found := comparison.together()).count
            and found.count > comparison.without().count)

    def cost(self, host: Host) -> float:
        """Weighted violations of preferences that the member adds there."""
        rules = [(policy, scope) for policy, scope in self._checked_rules()
                 if not policy.hard and not self._allows(policy, scope, host)]
        return sum(
            comparison.policy.weight * (comparison.together().count
                                        - comparison.without().count)
            for comparison in self._comparisons(host, rules))

    def _checked_rules(self) -> Iterator[tuple[Policy, Scope]]:
        for scope in self._scopes():
            for policy in scope.group.rules:
                if policy.local or self.cloud is not None:
                    yield policy, scope

    def _allows(self, policy: Policy, scope: Scope, host: Host) -> bool:
        """Whether the member certainly adds no violation on the host. The
        hosts of the other members are not read if their numbers are known."""
        if self.path in self.others:
            return False
        if policy.local:
            snapshot = Snapshot(self.levels, ())
            if self.outside_servers and any(
                    self.outside_servers.get(domain)
                    for domain in self.reserves(host)):
                return False
        elif self.cloud is not None:
            snapshot = self.cloud.snapshot
            host = self.cloud.hosts.get(host.name, host)
        else:
            return False
        key = scope.path, id(policy)
        if key not in self._allowing:
            self._allowing[key] = policy.allows_another(
                scope, self._placed_members, snapshot)
        allows = self._allowing[key]
        return allows is not None and allows(host)

    def _comparisons(self, host: Host,
                     rules: Sequence[tuple[Policy, Scope]]
                     ) -> Iterator['_Comparison']:
        if not rules:
            return
        outside_hosts = [each for domain in self.reserves(host)
                         for each in self.outside_servers.get(domain, ())
                         ] if self.outside_servers else []
        snapshot = Snapshot(
            self.levels, (*self.others.values(), host, *outside_hosts),
            self.links)
        there = {**self.others, self.path: host}
        if self.cloud is not None:
            known = {**self.others,
                     self.path: self.cloud.hosts.get(host.name, host)}
        for policy, scope in rules:
            if policy.local:
                yield _Comparison(policy, scope, there, self.others, snapshot)
            else:
                yield _Comparison(policy, scope, known, self.others,
                                  self.cloud.snapshot)

    def _scopes(self) -> Sequence[Scope]:
        return scopes_of_members(self.group).get(self.path, ())


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A policy with two placements: with the member and without it."""

    policy: Policy
    scope: Scope
    there: Mapping[str, Host]
    others: Mapping[str, Host]
    snapshot: Snapshot

    def together(self) -> Violations:
        """The violations with the member."""
        return self.policy.check(self.scope, self.there, self.snapshot)

    def without(self) -> Violations:
        """The violations without the member."""
        return self.policy.check(self.scope, self.others, self.snapshot)


def _reserves_all_domains(policy: Policy) -> bool:
    """Whether a policy reserves each domain of a level with a member of its
    scope, so that the numbers of members suffice. Other implementations may
    reserve fewer domains: those of rules that do not apply to volumes, and
    those of other packages."""
    return bool(policy.closes) and type(policy).reserves is Exclusive.reserves


def _by_member(group: Group) -> Mapping[str, Sequence[Scope]]:
    found = defaultdict(list)
    for scope in group.scopes():
        if scope.group.rules:
            for member in scope.members:
                found[member.path].append(scope)
    return found


scopes_of_members = IdentityCache(_by_member, REMEMBERED_GROUPS)
"""The scopes that have rules, outermost first, by the path of each of their
members."""
