# SPDX-License-Identifier: Apache-2.0
"""The domains of hosts, and the capacity of an inventory."""

import pytest

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.inventory import Inventory
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


@pytest.mark.parametrize('inventory, capacity, free', [
    (Inventory(16), 16, 16),
    (Inventory(16, reserved=2, allocation_ratio=1.5, used=20), 21, 1),
    (Inventory(5, allocation_ratio=1.1), 5, 5),
    (Inventory(16, used=20), 16, -4)])
def test_capacity_follows_placements_formula(inventory, capacity, free):
    assert (inventory.capacity, inventory.free) == (capacity, free)
