# SPDX-License-Identifier: Apache-2.0
"""The topology as a tree: every host is in exactly one leaf domain."""

from collections.abc import Sequence
from dataclasses import dataclass

from nova_holistic.picture.scene import HostView


@dataclass(frozen=True, slots=True)
class DomainView:
    """A domain with its content.

    :ivar level: '' for the whole topology
    :ivar name: its own name in its parent
    :ivar hosts: hosts that are directly in the domain, and in none of
        ``domains``
    """

    level: str
    name: str
    domains: tuple['DomainView', ...]
    hosts: tuple[HostView, ...]

    def members(self) -> int:
        """Number of members of the group in the domain, at any depth."""
        return (sum(domain.members() for domain in self.domains)
                + sum(len(view.members) for view in self.hosts))

    def all_hosts(self) -> int:
        """Number of hosts in the domain, at any depth."""
        return (sum(domain.all_hosts() for domain in self.domains)
                + len(self.hosts))


def tree(levels: Sequence[str], hosts: Sequence[HostView]) -> DomainView:
    """The hosts by location. Domains are in the order of their first hosts."""
    return _domain('', '', levels[:-1], 0, hosts)


def _domain(level: str, name: str, levels: Sequence[str], depth: int,
            hosts: Sequence[HostView]) -> DomainView:
    if depth == len(levels):
        return DomainView(level, name, (), tuple(hosts))
    below: dict[str, list[HostView]] = {}
    for view in hosts:
        location = view.host.location
        at = location[depth] if depth < len(location) else ''
        below.setdefault(at, []).append(view)
    domains = tuple(
        _domain(levels[depth], at or f'no {levels[depth]}', levels, depth + 1,
                inside)
        for at, inside in below.items())
    return DomainView(level, name, domains, ())
