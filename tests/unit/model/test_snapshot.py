# SPDX-License-Identifier: Apache-2.0
"""The domains of hosts, hosts by their names, and the capacity of an
inventory."""

from dataclasses import replace

import pytest

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Link
from tests.unit.builders import cloud, host

LEVELS = ('az', 'rack', 'host')
KNOWN = host('a', 'az1', 'rack1', labels={'power_feed': 'A'})
HALF_KNOWN = host('b', 'az1')
CLOUD = cloud(KNOWN, HALF_KNOWN, levels=LEVELS)


@pytest.mark.parametrize('level, path', [
    ('az', ('az1',)), ('rack', ('az1', 'rack1')),
    ('host', ('az1', 'rack1', 'a')), ('power_feed', ('A',))])
def test_a_domain_is_identified_by_its_path_from_the_root(level, path):
    assert CLOUD.domain(KNOWN, level) == Domain(level, path)


def test_a_host_may_be_in_no_domain_of_a_level():
    assert CLOUD.domain(HALF_KNOWN, 'az') == Domain('az', ('az1',))
    assert CLOUD.domain(HALF_KNOWN, 'rack') is None
    assert CLOUD.domain(HALF_KNOWN, 'power_feed') is None
    assert CLOUD.domain(HALF_KNOWN, 'host') is not None


def test_levels_include_the_tree_and_the_labels():
    assert CLOUD.all_levels() == {'az', 'rack', 'host', 'power_feed'}


@pytest.mark.parametrize('later', [
    'abcd', 'dcba', 'abc', 'bcd', 'abcde', 'eabcd', 'abce', 'acbd', ''])
def test_hosts_are_found_by_name_in_each_later_snapshot(later):
    earlier = cloud(*map(host, 'abcd'))
    assert earlier.by_name()['b'] is earlier.hosts[1]
    # One host is the same object, and the others are new objects.
    kept = {'c': earlier.hosts[2]}
    found = replace(earlier, hosts=tuple(
        kept.get(name, host(name)) for name in later))
    assert dict(found.by_name()) == {each.name: each for each in found.hosts}
    assert [each.name for each in found.named('exa')] == [
        name for name in 'exa' if name in later]
    assert dict(earlier.by_name()) == dict(zip('abcd', earlier.hosts))


def test_snapshots_with_other_uplinks_share_what_the_hosts_determine():
    earlier = cloud(host('a', 'r1'), host('b', 'r2'),
                    links=[Link(('r1',), 10)])
    later = earlier.with_links([Link(('r1',), 20)])
    shared = object()
    assert later.once_for_hosts('key', lambda: shared) is shared
    assert earlier.once_for_hosts('key', object) is shared
    assert later.divided('host') is earlier.divided('host')
    assert [each.uplinks('rack')[Domain('rack', ('r1',))].uplink_mbps
            for each in (earlier, later)] == [10, 20]
    other = earlier.with_hosts([host('b', 'r2', enabled=False)])
    assert other.once_for_hosts('key', lambda: None) is None


def test_other_objects_replace_hosts_of_the_same_names():
    earlier = cloud(*map(host, 'abcd'))
    disabled = host('c', enabled=False)
    found = earlier.with_hosts([disabled])
    assert [each.name for each in found.hosts] == [*'abcd']
    assert found.hosts[2] is disabled
    assert [one is other for one, other in zip(
        earlier.hosts, found.hosts)] == [True, True, False, True]


@pytest.mark.parametrize('inventory, capacity, free', [
    (Inventory(16), 16, 16),
    (Inventory(16, reserved=2, allocation_ratio=1.5, used=20), 21, 1),
    (Inventory(5, allocation_ratio=1.1), 5, 5),
    (Inventory(16, used=20), 16, -4)])
def test_capacity_follows_placements_formula(inventory, capacity, free):
    assert (inventory.capacity, inventory.free) == (capacity, free)
