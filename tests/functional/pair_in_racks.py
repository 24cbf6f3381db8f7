# SPDX-License-Identifier: Apache-2.0
"""A group of two members that are in separate racks, and its cloud."""

from nova_holistic.embedded.host import EmbeddedHost

HOSTS = tuple(
    EmbeddedHost(f'{rack}-{number}', zone='az1', rack=rack)
    for rack in ('r1', 'r2', 'r3') for number in (1, 2))
SMALL = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
PAIR = {
    'name': 'pair',
    'policies': [{'type': 'anti-affinity', 'level': 'rack'}],
    'members': [{'name': 'a', 'flavor': 'small'},
                {'name': 'b', 'flavor': 'small'}],
}
PLAN = {'a': 'r1-1', 'b': 'r2-1'}
