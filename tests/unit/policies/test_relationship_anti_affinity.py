# SPDX-License-Identifier: Apache-2.0
"""The check and the encoding of the relationship anti-affinity."""

from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from tests.unit.builders import cloud, group, host, on, servers, two_racks
from tests.unit.policies.encoding import cost_of

SCOPE = next(group(
    servers('web', 2), servers('db', 2), servers('other')).scopes())
RACKS = two_racks()


def apart(level, weight=None):
    return RelationshipAntiAffinity(
        between=('web', 'db'), level=level, weight=weight)


def test_members_of_one_side_may_be_together():
    placement = on(
        RACKS, web_0='r1h1', web_1='r1h1', db_0='r1h2', db_1='r1h2')
    assert apart('host').check(SCOPE, placement, RACKS).count == 0
    assert cost_of(apart('host'), SCOPE, RACKS, placement) == 0


def test_a_domain_with_members_of_both_sides_is_named():
    placement = on(
        RACKS, web_0='r1h1', web_1='r2h1', db_0='r1h1', db_1='r1h2')
    found = apart('rack').check(SCOPE, placement, RACKS)
    assert found.count == 1
    assert found.messages == ('rack r1 holds web-0 together with db-0, db-1',)


def test_each_domain_with_members_of_both_sides_is_a_violation():
    placed = on(RACKS, web_0='r1h1', web_1='r2h1', db_0='r1h1', db_1='r2h2')
    assert apart('rack').check(SCOPE, placed, RACKS).count == 2
    assert apart('host').check(SCOPE, placed, RACKS).count == 1
    assert cost_of(apart('rack', 3), SCOPE, RACKS, placed) == 6
    assert cost_of(apart('host', 3), SCOPE, RACKS, placed) == 3
    assert cost_of(apart('host'), SCOPE, RACKS, placed) is None


def test_members_of_neither_side_do_not_matter():
    placed = on(RACKS, web_0='r1h1', web_1='r1h1', db_0='r2h1', db_1='r2h1',
                other='r1h1')
    assert apart('rack').check(SCOPE, placed, RACKS).count == 0
    assert cost_of(apart('rack'), SCOPE, RACKS, placed) == 0


def test_a_member_without_a_domain_is_a_violation():
    feeds = cloud(host('a', 'r1', labels={'feed': 'A'}), host('b', 'r1'))
    placed = on(feeds, web_0='a', web_1='a', db_0='b', db_1='b')
    found = apart('feed').check(SCOPE, placed, feeds)
    assert found.count == 2
    assert found.messages[0] == (
        'db-0 is on host b, which is in no domain of level feed')
    assert cost_of(apart('feed'), SCOPE, feeds, placed) is None
    assert cost_of(apart('feed', 1), SCOPE, feeds, placed) == 2


def test_unplaced_members_violate_nothing():
    placement = on(RACKS, web_0='r1h1')
    assert apart('host').check(SCOPE, placement, RACKS).count == 0
