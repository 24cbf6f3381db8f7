# SPDX-License-Identifier: Apache-2.0
"""Headroom and relaxations of a parent."""

import pytest

from nova_holistic.federation.errors import InvalidAnswer
from nova_holistic.federation.http import answers
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.federation.clouds import Lost, member, small, Time
from tests.unit.federation.parent import Parent

PAIR = {'name': 'pair', 'policies': [
    {'type': 'anti-affinity', 'level': 'rack'}], 'members': [
        member('node', 4, count=2)]}
HALVES = {'name': 'halves', 'groups': [
    {'name': 'left', 'members': [member('node', 12)]},
    {'name': 'right', 'members': [member('node', 12)]}]}
THREE = {'name': 'three', 'policies': [
    {'type': 'affinity', 'level': 'cloud'},
    {'type': 'anti-affinity', 'level': 'rack'}], 'members': [
        member('node', 1, count=3)]}


def lost(method, when):
    raise Lost


@pytest.fixture
def parent_of(tmp_path):
    """A function that starts a parent of clouds in memory."""
    started = []

    def start(options=None, **clouds):
        started.append(Parent(PlacementTable(new_table(tmp_path)), clouds,
                              **options or {}))
        return started[-1]

    yield start
    for each in started:
        each.engines.stop()


def test_copies_of_a_whole_group_are_added(parent_of):
    parent = parent_of(ams=small('a1', 'b1'), dfw=small('a1', 'b1', vcpus=9))
    found = parent.planned(PAIR, headroom=True)
    assert (found['status'], found['headroom']) == (
        'planned', {'at_least': 6, 'at_most': 6})
    assert 'relaxations' not in found


def test_locations_exclude_clouds_from_the_headroom(parent_of):
    parent = parent_of(ams=small('a1', 'b1'), dfw=small('a1', 'b1', vcpus=9))
    found = parent.planned({**PAIR, 'members': [
        member('node', 4, count=2, location='dfw')]}, headroom=True)
    assert found['headroom'] == {'at_least': 2, 'at_most': 2}


def test_the_parts_of_a_split_group_limit_its_copies(parent_of):
    """One copy fits. It leaves no capacity for a second copy, but the
    capacity for each part alone does not prove that."""
    parent = parent_of(ams=small('a1'), dfw=small('b1'))
    found = parent.planned(HALVES, headroom=True)
    assert (found['status'], found['headroom']) == (
        'planned', {'at_least': 1, 'at_most': 2})


def test_parts_of_a_copy_share_a_host_that_is_closed_to_other_copies(
        parent_of):
    """A part alone closes the host of its cloud to any other part, but both
    parts of a copy are on one host."""
    parent = parent_of(ams=small('a1'), dfw=small('b1'))
    found = parent.planned({
        'name': 'alone', 'policies': [{'type': 'exclusive', 'level': 'host'}],
        'groups': [{'name': 'half', 'count': 2, 'members': [
            member('node', 2, count=2)]}]}, headroom=True)
    assert (found['status'], found['headroom']) == (
        'planned', {'at_least': 2, 'at_most': 2})


def test_a_group_that_must_be_in_several_clouds_counts_its_plan(parent_of):
    parent = parent_of(ams=small('a1'), dfw=small('b1'))
    found = parent.planned({'name': 'pair', 'policies': [
        {'type': 'anti-affinity', 'level': 'cloud'}], 'members': [
            member('node', 8, count=2)]}, headroom=True, relaxations=True)
    # Both clouds together have capacity for 4 of the servers.
    assert found['headroom'] == {'at_least': 1, 'at_most': 2}


@pytest.mark.parametrize('policy', [
    {'type': 'anti-affinity'}, {'type': 'spread', 'min_domains': 1}])
def test_one_server_has_headroom_below_a_policy_of_clouds(parent_of, policy):
    """The policy limits the servers per cloud when the group grows."""
    parent = parent_of(ams=small('a1'), dfw=small('b1'))
    found = parent.planned({
        'name': 'shop', 'policies': [{**policy, 'level': 'cloud'}],
        'members': [member('web', 4)]}, headroom=True)
    assert (found['status'], found['headroom']) == (
        'planned', {'at_least': 1, 'at_most': 8})


def test_no_upper_bound_is_known_while_a_cloud_does_not_answer(parent_of):
    parent = parent_of(ams=small('a1', 'b1'), dfw=small('a1', 'b1'))
    parent.clouds.children['dfw'].fault = lost
    found = parent.planned(PAIR, headroom=True)
    assert found['headroom'] == {'at_least': 4, 'at_most': None}


def test_a_plan_remains_if_the_search_for_its_headroom_fails(parent_of):
    parent = parent_of(ams=small('a1', 'b1'))
    child = parent.clouds.children['ams']

    def second_offer_fails(method, when):
        if len(child.offers()) > 1:
            raise RuntimeError('no memory')

    child.fault = second_offer_fails
    found = parent.planned(PAIR, headroom=True)
    assert len(child.offers()) == 2
    assert found['status'] == 'planned' and len(found['placements']) == 2
    assert 'headroom' not in found


@pytest.mark.parametrize('used, left', [(4, 6), (9, 1), (30, 1)])
def test_offer_and_headroom_share_the_time_limit(parent_of, used, left):
    """The headroom has at least a tenth of the time limit."""
    parent = parent_of({'placement_seconds': 10},
                       ams=small('a1', 'b1'), dfw=small('a1', 'b1'))
    child = parent.clouds.children['ams']

    def takes_long(method, when):
        if when == 'after' and len(child.offers()) == 1:
            parent.clouds.time.sleep(used)

    child.fault = takes_long
    found = parent.planned(PAIR, headroom=True)
    assert found['status'] == 'planned'
    assert found['headroom'] == {'at_least': 8, 'at_most': 8}
    assert child.limits == [10, left]


def test_the_relaxations_are_those_of_the_closest_cloud(parent_of):
    """Their positions are in the document of the parent, which has one more
    policy."""
    parent = parent_of(ams=small('a1'), dfw=small('a1', 'b1'))
    found = parent.planned(THREE, relaxations=True, headroom=True)
    assert (found['status'], found['headroom']) == (
        'unplaceable', {'at_least': 0, 'at_most': 0})
    closest = found['relaxations']
    assert closest['cloud'] == 'dfw'
    assert [[rule['position'] for rule in each['rules']]
            for each in closest['preferences']] == [['policies[1]']]
    assert [(each['position'], each['count'], each['instead_of'])
            for each in closest['counts']] == [('members[0].count', 2, 3)]
    assert closest['hosts']['number'] == 1


def test_positions_in_nested_groups_are_those_of_the_parent(parent_of):
    parent = parent_of(ams=small('a1'))
    found = parent.planned({'name': 'nested', 'groups': [
        {'name': 'web', 'members': [member('node', 1)]},
        {'name': 'db', 'policies': [
            {'type': 'location', 'path': 'ams'},
            {'type': 'anti-affinity', 'level': 'host'}],
         'members': [member('node', 1, count=2)]}]}, relaxations=True)
    (single,) = found['relaxations']['preferences']
    assert [rule['position'] for rule in single['rules']] == [
        'groups[1].policies[1]']


def test_rules_that_require_several_clouds_have_no_relaxations(parent_of):
    parent = parent_of(ams=small('a1'), dfw=small('b1'))
    found = parent.planned({'name': 'pair', 'policies': [
        {'type': 'anti-affinity', 'level': 'cloud'}], 'members': [
            member('node', 1, count=3)]}, relaxations=True)
    assert found['status'] == 'unplaceable'
    assert 'relaxations' not in found


def test_a_contradictory_headroom_is_an_invalid_answer():
    with pytest.raises(InvalidAnswer, match='contradict'):
        answers.offer('ams', {
            'status': 'planned', 'objective': {'name': 'spread', 'value': 1},
            'placements': [], 'headroom': {'at_least': 3, 'at_most': 2}},
            0, Time().now())
