# SPDX-License-Identifier: Apache-2.0
"""Checks that the usage of each host in Placement is the sum of its servers
and holds."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from nova_holistic.table.records import MemberRecord

Usages = dict[str, Counter[str]]
"""Usage by host, then by resource class."""


def of_servers(servers: Iterable[Mapping[str, Any]]) -> Usages:
    """Usage by servers that have a host, from the flavors in Nova's API."""
    usages: Usages = defaultdict(Counter)
    for server in servers:
        host = server['OS-EXT-SRV-ATTR:host']
        if host is not None:
            flavor = server['flavor']
            usages[host].update({
                'VCPU': flavor['vcpus'], 'MEMORY_MB': flavor['ram'],
                'DISK_GB': flavor['disk']})
    return usages


def of_holds(members: Iterable[MemberRecord]) -> Usages:
    """Usage by holds, from the placement table."""
    usages: Usages = defaultdict(Counter)
    for row in members:
        if row.held:
            usages[row.place.host].update(row.member.requirements.resources)
    return usages


def differences(placement: Mapping[str, Mapping[str, int]],
                *accounts: Usages) -> list[str]:
    """One line for each amount in Placement that differs from the sum of the
    accounts."""
    expected: Usages = defaultdict(Counter)
    for account in accounts:
        for host, amounts in account.items():
            expected[host].update(amounts)
    lines = []
    for host in sorted(expected.keys() | placement.keys()):
        found = placement.get(host, {})
        for name in sorted(expected[host].keys() | found.keys()):
            if found.get(name, 0) != expected[host][name]:
                lines.append(f'{host}: {name} {found.get(name, 0)} in '
                             f'Placement, {expected[host][name]} expected')
    return lines
