# SPDX-License-Identifier: Apache-2.0
"""The table shows whether a scheduler needs all hosts of the cloud for the
policies of a group."""

import pytest

from nova_holistic.table.queries.totals import any_group_uses_all_hosts
from tests.functional.engine.updates import revised, update

SPREAD = {'type': 'spread', 'level': 'rack', 'max_skew': 2}


def uses_all_hosts(world):
    return any_group_uses_all_hosts(world.table.database)


@pytest.mark.parametrize('where', ['top', 'policies'])
@pytest.mark.parametrize('weight', [{}, {'weight': 1}])
def test_a_group_with_spread_uses_all_hosts(world, where, weight):
    document = revised(**{where: [{**SPREAD, **weight}]})
    group = world.create({'group': document})
    assert uses_all_hosts(world)
    world.lifecycle.release(group.uuid)
    assert not uses_all_hosts(world)


def test_an_update_adds_and_removes_the_policy(world):
    group = world.create()
    assert not uses_all_hosts(world)
    update(world, group, revised(top=[SPREAD]))
    assert uses_all_hosts(world)
    update(world, group, revised())
    assert not uses_all_hosts(world)
