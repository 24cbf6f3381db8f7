# SPDX-License-Identifier: Apache-2.0
"""Measurement of how the work for a plan grows with hosts and members."""

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from tests.executed_lines import executed
from tests.unit.builders import cloud, group, host, servers


def mixed(hosts):
    """Return hosts of different usage, in three zones and in racks of 40."""
    return cloud(*(host(
        f'h{n}', f'z{n % 3}', f'z{n % 3}r{n // 40}', inventories={
            'VCPU': Inventory(32, used=n * 7 % 30),
            'MEMORY_MB': Inventory(2048, used=n * 11 % 1024)})
        for n in range(hosts)), levels=('zone', 'rack', 'host'))


def shop(members):
    """Return two groups with servers of two sizes each, with anti-affinity in
    each group and a spread over zones."""
    return group(groups=[
        group(servers('small', members // 4),
              servers('large', members // 4, vcpus=4), name=name,
              policies=[AntiAffinity(max_per_domain=4)])
        for name in ('one', 'other')],
        policies=[Spread(level='zone', max_skew=4)])


def lines(work):
    """Count the lines of the project that a call executes. A loop or
    comprehension counts one line for each iteration."""
    return sum(executed(work).values())


def product(work, hosts, members):
    """Return d of lines = a + b x hosts + c x members + d x hosts x members.
    """
    few, wide, tall, both = (
        work(shop(m), mixed(h)) for m, h in (
            (members, hosts), (members, 2 * hosts),
            (2 * members, hosts), (2 * members, 2 * hosts)))
    # The whole work must also stay below one line per host and member.
    assert both < 2 * hosts * 2 * members
    return (both - wide - tall + few) / (hosts * members)
