# SPDX-License-Identifier: Apache-2.0
"""The operator has changed the levels of the topology since a group was
planned. The first create locates its members, and the cost of later ones does
not depend on their number."""

from datetime import timedelta

import pytest

from nova_holistic.table.queries import cached_group
from nova_holistic.table.records import GroupStatus
from tests.executed_lines import executed
from tests.functional.test_group_positions import (
    answer, clear, cloud, FEW, group_of, MANY, WIDE)

__all__ = ['cloud']
POLICIES = {name: WIDE[name] for name in ('anti-affinity', 'spread')}


def other_levels(cloud, built, policies):
    """A group that was planned with another name of the racks."""
    group = group_of(cloud, built, policies)
    assert cloud.table.update_group(
        group, [GroupStatus.PLANNED], levels=('az', 'row', 'host'))
    return group


@pytest.mark.parametrize('policies', POLICIES.values(), ids=POLICIES)
def test_no_line_is_executed_for_each_member(cloud, policies, monkeypatch):
    monkeypatch.setattr(cached_group, 'OVERLAP', timedelta(0))
    counts = []
    for built in FEW, MANY:
        group = other_levels(cloud, built, policies)
        answer(cloud, group, 'm-0')
        answer(cloud, group, 'm-1')
        counts.append(executed(lambda: answer(cloud, group, 'm-2'), 'line'))
        clear(cloud)
    few, many = counts
    more = many - few
    assert sum(more.values()) < (MANY - FEW) / 2, more
