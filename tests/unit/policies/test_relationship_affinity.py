# SPDX-License-Identifier: Apache-2.0
"""The check and the encoding of the relationship affinity."""

from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from tests.unit.builders import cloud, group, host, on, servers, two_racks
from tests.unit.policies.encoding import cost_of

SCOPE = next(group(
    servers('web', 2), servers('cache'), servers('other')).scopes())
RACKS = two_racks()


def together(level, weight=None):
    return RelationshipAffinity(
        between=('web', 'cache'), level=level, weight=weight)


def test_both_sides_in_one_rack_satisfy_affinity():
    placement = on(RACKS, web_0='r1h1', web_1='r1h2', cache='r1h2')
    assert together('rack').check(SCOPE, placement, RACKS).count == 0
    assert together('host').check(SCOPE, placement, RACKS).count == 1


def test_one_side_in_two_racks_is_a_violation():
    placement = on(RACKS, web_0='r1h1', web_1='r2h1', cache='r1h1')
    found = together('rack').check(SCOPE, placement, RACKS)
    assert found.count == 1
    assert found.messages == (
        'members are in 2 domains of level rack instead of one: '
        'r1 has web-0, cache; r2 has web-1',)


def test_members_of_neither_side_may_be_anywhere():
    placement = on(
        RACKS, web_0='r1h1', web_1='r1h1', cache='r1h1', other='r2h2')
    assert together('host').check(SCOPE, placement, RACKS).count == 0
    assert cost_of(together('host'), SCOPE, RACKS, placement) == 0


def test_a_hard_encoding_forbids_and_a_weighted_one_costs():
    placed = on(RACKS, web_0='r1h1', web_1='r2h1', cache='r1h2')
    assert cost_of(together('rack'), SCOPE, RACKS, placed) is None
    assert cost_of(together('rack', 5), SCOPE, RACKS, placed) == 5
    assert cost_of(together('host', 5), SCOPE, RACKS, placed) == 10


def test_a_host_without_the_label_is_a_violation():
    feeds = cloud(host('a', 'r1', labels={'feed': 'A'}), host('b', 'r1'))
    placed = on(feeds, web_0='a', web_1='a', cache='b')
    assert together('feed').check(SCOPE, placed, feeds).count == 1
    assert cost_of(together('feed'), SCOPE, feeds, placed) is None


def test_the_title_names_both_sides():
    assert together('rack').title == 'affinity between web and cache'
