# SPDX-License-Identifier: Apache-2.0
"""The parts of Placement in the cost of a create."""

import pytest

from benchmarks import report


def step(wall, waited=0.0, **cpu):
    return {'wall': wall, 'cpu': cpu, 'requests': {},
            'waited': {'placement': waited}}


RUN = {'steps': {
    'snapshot': step(2.0, 0.5, nova=1.0, placement=1.0),
    'plan': step(1.0, 1.0, engine=2.0),
    'holds': step(5.0, 4.5, placement=3.0, mariadb=1.0),
    'alternates': step(4.0, engine=8.0),
    'answer': step(2.0, holistic=8.0)}}


def test_work_after_the_holds_is_not_a_part_of_the_time_until_held():
    assert report.placement_share([RUN]) == pytest.approx(5 / 8)


def test_requests_of_other_work_are_not_waited_for():
    assert report.waiting_shares([RUN, RUN]) == [pytest.approx(5 / 8)] * 2


def test_the_work_of_idle_services_does_not_count():
    idle = {'placement': 0.25, 'nova': 0.5, 'rabbitmq': 0.1}
    # Eight seconds until held: 2 of Placement's 4 seconds, and all of Nova's.
    assert report.placement_share([RUN], idle) == pytest.approx(3 / 5)
