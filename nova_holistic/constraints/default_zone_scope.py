# SPDX-License-Identifier: Apache-2.0
"""Members that specify no zone, so that Nova's default zone applies."""

from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.group import Group

_PLACING = ('availability_zone', 'location')
"""Types of policies that determine where members are placed."""


def members_anywhere(group: Group, snapshot: Snapshot) -> frozenset[str]:
    """Paths of members for which neither their description nor a rule of a
    group around them specifies a zone or location."""
    placed = set()
    for scope in group.scopes():
        if any(rule.type in _PLACING
               or any(_is_zonal(level, snapshot) for level in rule.levels)
               for rule in scope.group.rules):
            placed.update(member.path for member in scope.members)
    return frozenset(
        member.path for member in group.all_members()
        if member.path not in placed
        and not member.requirements.availability_zone
        and not member.requirements.location)


def _is_zonal(level: str, snapshot: Snapshot) -> bool:
    """Whether no zone is divided among domains of the level."""
    def work() -> bool:
        domains: dict[str | None, set] = {}
        for host in snapshot.hosts:
            domains.setdefault(host.availability_zone, set()).add(
                snapshot.domain(host, level))
        return all(len(found) == 1 for found in domains.values())

    return level != 'host' and snapshot.once(('zonal', level), work)
