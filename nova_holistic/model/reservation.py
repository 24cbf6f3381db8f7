# SPDX-License-Identifier: Apache-2.0
"""Domains that a group reserves for its members."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Group


@dataclass(frozen=True, slots=True)
class Reservation:
    """Domains that only some members of one group may use.

    :ivar members: paths of these members
    """

    members: frozenset[str]
    domains: frozenset[Domain]


def reservations(group: Group, placement: Mapping[str, Host],
                 levels: tuple[str, ...]) -> Iterator[Reservation]:
    """The domains that the policies of a top-level group reserve.

    :param placement: the hosts of members with allocations, by path
    :param levels: levels of the tree of the hosts, coarse to fine
    """
    snapshot = Snapshot(levels, tuple(placement.values()))
    for scope in group.scopes():
        domains = frozenset[Domain]().union(*(
            rule.reserves(scope, placement, snapshot)
            for rule in scope.group.rules))
        if domains:
            yield Reservation(
                frozenset(m.path for m in scope.members), domains)
