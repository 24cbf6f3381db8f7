# SPDX-License-Identifier: Apache-2.0
"""The capacity of a pool for one more volume, computed by hand from Cinder's
specification "provisioning improvements"."""

import pytest

from nova_holistic.model.cloud.inventory import MAX_UNIT
from nova_holistic.model.cloud.pool_capacity import PoolCapacity

THIN = {'thin_provisioning_support': True}


@pytest.mark.parametrize('fields, capacity, free', [
    ({'total_capacity_gb': 100}, 100, 100),
    # Ten are reserved; thirty of the other ninety are provisioned.
    ({'total_capacity_gb': 100, 'reserved_percentage': 10,
      'provisioned_capacity_gb': 30}, 90, 60),
    # Other clients also use the array. Its free capacity is less than the
    # capacity that Cinder has not provisioned.
    ({'total_capacity_gb': 100, 'reserved_percentage': 10,
      'provisioned_capacity_gb': 30, 'free_capacity_gb': 50.9}, 90, 50),
    ({'total_capacity_gb': 100, 'reserved_percentage': 10,
      'provisioned_capacity_gb': 30, 'free_capacity_gb': 80}, 90, 60),
    # The reserved share of 99 is 9.9. Cinder reserves 9.
    ({'total_capacity_gb': 99, 'reserved_percentage': 10}, 90, 90),
    ({'total_capacity_gb': 100, 'reserved_percentage': 10,
      'max_over_subscription_ratio': 2, 'provisioned_capacity_gb': 30,
      'free_capacity_gb': 5, **THIN}, 180, 150),
    # A pool without thin provisioning is not over-subscribed.
    ({'total_capacity_gb': 100, 'max_over_subscription_ratio': 20}, 100, 100),
    ({'total_capacity_gb': 100, 'provisioned_capacity_gb': 130}, 100, 0),
    ({'total_capacity_gb': 0}, 0, 0),
    ({'total_capacity_gb': 'infinite'}, MAX_UNIT, MAX_UNIT),
    ({'total_capacity_gb': 100, 'free_capacity_gb': 'unknown',
      'reserved_percentage': 50}, MAX_UNIT, MAX_UNIT),
    ({'total_capacity_gb': 'unknown', 'free_capacity_gb': 10},
     MAX_UNIT, MAX_UNIT),
    # The reserved share of an unknown total cannot be kept.
    ({'total_capacity_gb': 'unknown', 'free_capacity_gb': 10,
      'reserved_percentage': 1}, 0, 0)])
def test_the_capacity_is_what_cinder_offers(fields, capacity, free):
    found = PoolCapacity(**fields).inventory()
    assert (found.capacity, found.free) == (capacity, free)
