# SPDX-License-Identifier: Apache-2.0
"""Groups whose volumes have fixed places, for checks and repairs of servers.

A server may move, and a volume never does. Policies of a level that relate
members to each other apply to servers and volumes together. All other policies
apply to servers only: the requirements of volumes were checked when they were
planned.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group, Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.policy import Encoder, Policy, Violations
from nova_holistic.model.storage_pools import has_volumes, volumes_of


def with_fixed_volumes(group: Group) -> Group:
    """The group whose policies take the places of its volumes into account.

    Policies that members without a place may violate, for example a minimum
    number of domains, are left out where they apply to volumes. The volumes
    have no requirements.
    """
    return _with_fixed(group, frozenset(
        each.path for each in volumes_of(group)))


def _with_fixed(group: Group, volumes: frozenset[str]) -> Group:
    if not has_volumes(group):
        return group
    return replace(
        group,
        policies=tuple(each if _relates_members(each)
                       else OfServers(weight=each.weight, place=each.place,
                                      rule=each, volumes=volumes)
                       for each in group.policies if each.monotone),
        relationships=tuple(
            each for each in group.relationships if _relates_members(each)),
        members=tuple(
            replace(each, requirements=Requirements())
            if each.requirements.volume else each for each in group.members),
        groups=tuple(_with_fixed(each, volumes) for each in group.groups))


def _relates_members(rule: Policy) -> bool:
    """Whether a policy concerns only the domains of members."""
    return rule.monotone and bool(rule.levels) and not rule.counts_servers


@dataclass(frozen=True, kw_only=True)
class OfServers(Policy):
    """A policy that does not apply to volumes.

    :ivar volumes: paths of all volumes of the top-level group
    """

    type: ClassVar[str] = 'of servers'

    rule: Policy
    volumes: frozenset[str]

    @property
    def local(self) -> bool:  # type: ignore[override]
        return self.rule.local

    @property
    def counts_all(self) -> bool:  # type: ignore[override]
        return self.rule.counts_all

    @property
    def counts_servers(self) -> bool:  # type: ignore[override]
        return self.rule.counts_servers

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        return self.rule.monotone

    @property
    def title(self) -> str:
        return self.rule.title

    @property
    def summary(self) -> str:
        return self.rule.summary

    @property
    def levels(self):
        return self.rule.levels

    @property
    def traits(self):
        return self.rule.traits

    @property
    def closes(self) -> str | None:
        return self.rule.closes

    @property
    def vertex(self):
        return self.rule.vertex

    def admits(self, host: Host) -> bool:
        # The result is used for members without a place, which are servers,
        # and for the domains that are eligible for servers.
        return self.rule.admits(host)

    def distinguishes(self, scope: Scope,
                      member: Member) -> Mapping[str, bool] | None:
        return self.rule.distinguishes(self._of_servers(scope), member)

    def reserves(self, scope: Scope, placement: Mapping[str, Host],
                 snapshot: Snapshot) -> frozenset[Domain]:
        return self.rule.reserves(
            self._of_servers(scope), placement, snapshot)

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        return self.rule.check(self._of_servers(scope), {
            path: host for path, host in placement.items()
            if path not in self.volumes}, snapshot)

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        self.rule.encode(self._of_servers(scope),
                         _WithoutVolumes(encoder, self._of_servers))

    def _of_servers(self, scope: Scope) -> Scope:
        return replace(scope, members=tuple(
            each for each in scope.members if each.path not in self.volumes))


@dataclass(frozen=True, slots=True)
class _WithoutVolumes:
    """An encoder for which the volumes are not members of the top-level group.
    Otherwise, they would be servers of others for some policies.

    :ivar of_servers: returns a scope without its volumes
    """

    encoder: Encoder
    of_servers: Callable[[Scope], Scope]

    def others(self, scope: Scope) -> Scope:
        return self.of_servers(self.encoder.others(scope))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)
