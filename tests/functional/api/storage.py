# SPDX-License-Identifier: Apache-2.0
"""Storage pools of the cloud of the tests. A real Cinder cannot run in the
process of Nova: see tests/cinder."""

from dataclasses import replace

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.storage_pools import pool_traits, VOLUME_GB


def pool(name, rack, gib, used=0, types=('fast',)):
    return Host(
        name=name, node=name, uuid='', location=(rack,),
        inventories=FrozenMapping({VOLUME_GB: Inventory(gib, used=used)}),
        traits=pool_traits(types))


@pytest.fixture
def pools(world):
    """The pools, one in each rack, which a test may change."""
    found = [pool('array@a#fast', 'a', 100), pool('array@b#fast', 'b', 100)]
    world.inventory.read_pools = lambda snapshot: replace(
        snapshot, pools=tuple(found))
    return found
