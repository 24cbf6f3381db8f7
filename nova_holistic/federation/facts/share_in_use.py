# SPDX-License-Identifier: Apache-2.0
"""Estimates the share of a child's capacity that is in use."""

from collections.abc import Mapping, Sequence
from typing import Any

from nova_holistic.documents.validation import validator

RATIO_SAMPLE = 5
"""Maximum number of hosts whose allocation ratios are read. Each takes one
request within the rate limit of the child, which users share."""
_USED = {'VCPU': ('vcpus', 'vcpus_used'),
         'MEMORY_MB': ('memory_mb', 'memory_mb_used')}
"""Resource class to the keys of a hypervisor in Nova's API: its total, and the
used amount, which includes the reserved amount."""
_AMOUNT = {'type': 'integer', 'minimum': 0}
_check_hosts = validator({'type': 'array', 'items': {
    'type': 'object', 'required': [key for _, key in _USED.values()],
    'properties': {key: _AMOUNT for _, key in _USED.values()}}})
check_inventories = validator({
    'type': 'object', 'required': ['inventories'], 'properties': {
        'inventories': {'type': 'object', 'additionalProperties': {
            'type': 'object', 'required': ['allocation_ratio'],
            'properties': {'allocation_ratio': {
                'type': 'number', 'exclusiveMinimum': 0}}}}}})
"""Checks the response of Placement for the inventories of a provider.

:raises InvalidDocument: it is not this response
"""

Hosts = Sequence[Mapping[str, Any]]


def ready(hosts: Hosts) -> Hosts:
    """The hypervisors that can get servers. A response without states
    describes hypervisors that can."""
    return [host for host in hosts
            if host.get('status', 'enabled') == 'enabled'
            and host.get('state', 'up') == 'up']


def sample(hosts: Hosts) -> list[str]:
    """UUIDs of at most ``RATIO_SAMPLE`` hypervisors, at equal distances in the
    list, because neighbours often have the same configuration."""
    count = min(RATIO_SAMPLE, len(hosts))
    return [hosts[number * len(hosts) // count]['id']
            for number in range(count)]


def share_in_use(hosts: Hosts,
                 inventories: Sequence[Mapping[str, Any]]) -> float | None:
    """The used share of the scarcest of VCPU and MEMORY_MB, from 0 to 1.

    Servers and reserved amounts are in use. Unused
    capacity that groups hold does not count, because Nova does not know it.

    :param hosts: hypervisors that can get servers, as Nova describes them
    :param inventories: inventories of some of them by resource class, as
        Placement describes them. Their mean allocation ratio applies to all
        hosts
    :returns: None if there is no capacity
    :raises InvalidDocument: a hypervisor has no used amounts
    """
    _check_hosts(list(hosts))
    shares = []
    for name, (total, used) in _USED.items():
        ratios = [each[name]['allocation_ratio'] for each in inventories
                  if name in each]
        capacity = sum(host[total] for host in hosts)
        if ratios and capacity:
            ratio = sum(ratios) / len(ratios)
            shares.append(
                sum(host[used] for host in hosts) / (capacity * ratio))
    return min(1.0, max(shares)) if shares else None
