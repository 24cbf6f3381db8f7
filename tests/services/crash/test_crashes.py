# SPDX-License-Identifier: Apache-2.0
"""A process is killed between two writes, and other processes repair the
state."""

from nova_holistic.crash_points import POINTS
from tests.services.crash.cases import CASES, SHORT


def test_every_point_has_a_scenario():
    # A parent of a federation has no engine, and Cinder cannot be in one
    # process with Nova: their own tests have a scenario for their points.
    assert {point.partition(':')[0] for _, point in SHORT} == {
        point for point in POINTS
        if not point.startswith(('federation.', 'cinder.', 'volume.'))}
    assert len(SHORT) < len(CASES)


def test_the_state_after_a_crash_is_repaired(crash_world, scenario, point):
    world = crash_world
    group, operation, *arguments = scenario.prepare(world)
    world.dies(point, operation, *arguments)
    if scenario.again and (
            group is None or world.table.get_group(group) is not None):
        world.lives(operation, *arguments)
    world.recover()
    assert list(world.violations()) == []
    if scenario.states is not None:
        assert world.states(group) == scenario.states
