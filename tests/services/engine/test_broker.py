# SPDX-License-Identifier: Apache-2.0
"""Engines work without interruption while a broker stops and starts again."""

import threading

from oslo_utils import timeutils

from nova_holistic.table.records import GroupStatus
from tests.services.background_processes import WAIT_SECONDS
from tests.services.engine.world import ANN


def test_groups_are_planned_through_a_real_broker(rabbit_world):
    engine = rabbit_world.start(pickup_interval=3600.0)
    assert engine.listener.wait_until_listening(WAIT_SECONDS)
    client = rabbit_world.client()
    # The engine answers a call, so its first poll of the table has ended.
    client.update_resource_stats(ANN, 'a1', {'load': 0.5})
    groups = [rabbit_world.ask() for _ in range(4)]
    for group in groups:
        client.plan_group(ANN, group)
    assert rabbit_world.statuses(groups) == {'planned'}
    rabbit_world.assert_agreement()


def test_no_create_is_lost_while_the_broker_restarts(rabbit_world, broker):
    for _ in range(2):
        engine = rabbit_world.start()
        assert engine.listener.wait_until_listening(WAIT_SECONDS)
    client = rabbit_world.client()
    away = threading.Thread(target=broker.restart)
    groups = []
    for number in range(20):
        if number == 5:
            away.start()
        groups.append(rabbit_world.ask())
        client.plan_group(ANN, groups[-1])
    away.join()
    assert rabbit_world.statuses(groups) == {'planned'}
    performed = [uuid for planner in rabbit_world.planners
                 for uuid in planner.performed]
    assert sorted(performed) == sorted(groups)
    rabbit_world.assert_agreement()
    # The engines receive messages again.
    group = groups[0]
    before = rabbit_world.table.get_group(group).lease_expires_at
    rabbit_world.client().extend(ANN, group, 7200)
    assert rabbit_world.table.get_group(group).lease_expires_at > before


def test_an_engine_that_starts_without_a_broker_works(rabbit_world, broker):
    broker.stop()
    try:
        group = rabbit_world.ask()
        rabbit_world.start()
        assert rabbit_world.settled(group).status == GroupStatus.PLANNED
        assert rabbit_world.settled(
            group).lease_expires_at > timeutils.utcnow()
    finally:
        broker.start()
