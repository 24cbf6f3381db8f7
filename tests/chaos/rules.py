# SPDX-License-Identifier: Apache-2.0
"""The hard policies of a chaos run, checked against the hosts of servers and
holds."""

from collections.abc import Iterator, Mapping
from collections import Counter
from typing import Any

from tests.chaos.final_state import FinalState

ACTIVE = ('planned', 'building', 'complete', 'released')


def broken_rules(facts: FinalState,
                 rack_of: Mapping[str, str]) -> Iterator[str]:
    """One sentence for each violated hard policy.

    :param rack_of: the rack of each host
    """
    for uuid, group in facts.groups.items():
        if group['status'] in ACTIVE:
            positions = _positions(facts, uuid)
            for at, policy in _policies(group['document'], ''):
                hosts = {path: host for path, host in positions.items()
                         if path.startswith(at)}
                if not _holds(policy, hosts, rack_of):
                    yield (f'group {uuid} ({group["status"]}) breaks {policy} '
                           f'at {at!r}: {hosts}')


def _positions(facts: FinalState, group: str) -> dict[str, str]:
    """The host of the server or of the hold of each member."""
    host_of = {}
    for row in facts.members:
        if row['group_uuid'] == group:
            server = facts.servers.get(row['instance_uuid'])
            if row['state'] == 'planned':
                host_of[row['path']] = row['host']
            elif server is not None and server['host']:
                host_of[row['path']] = server['host']
    return host_of


def _policies(document: Mapping[str, Any],
              at: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each policy, with the prefix of the paths of its members."""
    for policy in document.get('policies', ()):
        yield at, policy
    for nested in document.get('groups', ()):
        yield from _policies(nested, f'{at}{nested["name"]}/')


def _holds(policy: Mapping[str, Any], hosts: Mapping[str, str],
           rack_of: Mapping[str, str]) -> bool:
    domains = Counter(rack_of[host] if policy.get('level') == 'rack' else host
                      for host in hosts.values())
    if policy['type'] == 'affinity':
        return len(domains) <= 1
    return max(domains.values(), default=0) <= policy.get('max_per_domain', 1)
