# SPDX-License-Identifier: Apache-2.0
"""Rows of the placement table for the members of a plan."""

from datetime import datetime

from nova_holistic.engine import member_rows
from nova_holistic.model.plan import ObjectiveValue, Placement, Plan
from tests.unit.builders import group, servers, two_racks


def test_only_the_hosts_of_the_plan_become_rows(monkeypatch):
    seen = []
    place_of = member_rows.place_of
    monkeypatch.setattr(member_rows, 'place_of', lambda host: (
        seen.append(host.name) or place_of(host)))
    hosts = {'web-0': 'r1h3', 'web-1': 'r2h1', 'web-2': 'r1h3'}
    plan = Plan('shop', tuple(
        Placement(path, name, name, ()) for path, name in hosts.items()),
        ObjectiveValue('spread', 0.0, 0.0, 0.0))
    rows = member_rows.planned_members(
        'a group', group(servers('web', 3)), two_racks(50), plan,
        datetime(2026, 1, 1))
    assert {row.member.path: row.place.host for row in rows} == hosts
    assert sorted(seen) == ['r1h3', 'r2h1']
