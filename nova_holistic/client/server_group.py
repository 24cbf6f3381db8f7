# SPDX-License-Identifier: Apache-2.0
"""A group document for a server group of Nova and its servers.

Servers of equal flavors become the servers of one counted member, in the order
of the server group. The member has the name of the flavor. Servers that boot
from a volume have no root disk on their hosts, so they get a separate member.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
import re
from typing import Any

from nova_holistic import exceptions

GROUPS_VERSION = '2.64'
"""One policy with rules, instead of a list of policies."""
SERVERS_VERSION = '2.47'
"""The name of the flavor is part of the server."""

_NOT_IN_NAMES = re.compile(r'[^A-Za-z0-9_.-]+')
_LONGEST = 200


class NotImported(exceptions.HolisticError):
    """The server group cannot become a group."""


def document(server_group: Mapping[str, Any],
             servers: Sequence[Mapping[str, Any]],
             name: str | None = None) -> dict[str, Any]:
    """
    :param server_group: as Nova shows it from version 2.64
    :param servers: its servers, as Nova shows them from version 2.47
    :param name: name of the group; None means the name of the server group
    :raises NotImported: it has no servers, or an unknown policy
    """
    if not servers:
        raise NotImported(
            f'server group {server_group["id"]} has no servers')
    kinds: dict[tuple[str, bool], list[str]] = {}
    for server in servers:
        kind = server['flavor']['original_name'], not server['image']
        kinds.setdefault(kind, []).append(server['id'])
    members, adopt = [], {}
    taken: set[str] = set()
    for (flavor, volume), uuids in kinds.items():
        member = _unused_name(flavor, volume, len(uuids), taken)
        taken.update(_names(member, len(uuids)))
        members.append({
            'name': member, 'count': len(uuids), 'flavor': flavor,
            **({'boot_from_volume': True} if volume else {})})
        adopt.update(zip(_names(member, len(uuids))[1:], uuids, strict=True))
    return {'name': name or server_group['name'],
            'policies': [dict(_policy(server_group))],
            'members': members, 'adopt': adopt}


def _unused_name(flavor: str, volume: bool, count: int,
                 taken: Set[str]) -> str:
    stem = (_NOT_IN_NAMES.sub('-', flavor)[:_LONGEST]
            + ('-volume' if volume else ''))
    name, number = stem, 2
    while not taken.isdisjoint(_names(name, count)):
        name, number = f'{stem}_{number}', number + 1
    return name


def _names(member: str, count: int) -> Sequence[str]:
    """The names of a counted member and of its servers."""
    return [member, *(f'{member}-{number}' for number in range(count))]


def _policy(server_group: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    kind = server_group['policy']
    if kind not in ('affinity', 'anti-affinity', 'soft-affinity',
                    'soft-anti-affinity'):
        raise NotImported(
            f'server group {server_group["id"]} has policy {kind!r}, which '
            f'groups do not have')
    yield 'type', kind
    if kind == 'anti-affinity':
        most = (server_group.get('rules') or {}).get('max_server_per_host', 1)
        yield 'max_per_domain', int(most)
