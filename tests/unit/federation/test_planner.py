# SPDX-License-Identifier: Apache-2.0
"""The planner of a parent over clouds in memory: whole, split and refused
groups."""

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.offers import combiner
from nova_holistic.federation.planner import Limits
from nova_holistic.federation.results import Offered, Placed, Refused, Unknown
from tests.unit.federation.clouds import (
    Federation, Lost, member, objections, small, TYPES)


def places(placed):
    assert isinstance(placed, Placed), placed
    return {part.child: list(part.paths) for part in placed.parts}


def valid(federation, document, placed):
    """Return whether the independent check accepts the placement that the
    clouds report."""
    return not objections(parse_group(document, TYPES), federation.snapshots,
                          federation.placement(placed))


SHOP = {'name': 'shop', 'groups': [
    {'name': 'web', 'members': [member('node', 4, count=2)]},
    {'name': 'db', 'members': [member('node', 4, count=2)]}]}


def test_a_group_that_one_child_can_take_is_not_split():
    federation = Federation(dfw=small('a1', vcpus=16), ord=small('a1'))
    placed = federation.place(SHOP)
    assert list(map(len, places(placed).values())) == [4]
    assert placed.tries == 1
    assert valid(federation, SHOP, placed)


def test_brute_force_requests_an_offer_for_the_group_and_each_part():
    federation = Federation(dfw=small('a1'), ord=small('a1'))
    federation.place(SHOP)
    for child in federation.children.values():
        assert len(child.offers()) == 3


def test_a_group_is_split_at_the_borders_of_nested_groups():
    federation = Federation(dfw=small('a1', vcpus=8), ord=small('a1', vcpus=8))
    placed = federation.place(SHOP)
    assert sorted(places(placed).values()) == [
        ['db/node-0', 'db/node-1'], ['web/node-0', 'web/node-1']]
    assert federation.held() == {'dfw': 8, 'ord': 8}
    assert valid(federation, SHOP, placed)


def test_members_of_one_group_are_not_split_without_a_policy():
    federation = Federation(dfw=small('a1', vcpus=8), ord=small('a1', vcpus=8))
    refused = federation.place(
        {'name': 'shop', 'members': [member('node', 4, count=4)]})
    assert isinstance(refused, Refused)
    assert refused.reasons
    assert federation.held() == {}


def test_tied_groups_stay_in_one_child():
    document = {**SHOP, 'relationships': [
        {'type': 'affinity', 'level': 'rack', 'between': ['web', 'db']}]}
    federation = Federation(dfw=small('a1', vcpus=8), ord=small('a1', vcpus=8))
    assert isinstance(federation.place(document), Refused)


def test_anti_affinity_of_clouds_spreads_the_servers_of_a_member():
    document = {'name': 'shop', 'members': [member('node', count=3)],
                'policies': [{'type': 'anti-affinity', 'level': 'cloud'}]}
    federation = Federation(dfw=small('a1'), ord=small('a1'), lax=small('a1'))
    placed = federation.place(document)
    assert sorted(places(placed).values()) == [
        ['node-0'], ['node-1'], ['node-2']]
    assert valid(federation, document, placed)


def test_spread_of_clouds_counts_a_full_cloud():
    document = {'name': 'shop', 'members': [member('node', count=4)],
                'policies': [{'type': 'spread', 'level': 'cloud',
                              'max_skew': 1}]}
    federation = Federation(dfw=small('a1'), ord=small('a1'),
                            lax=small('a1', vcpus=0))
    assert isinstance(federation.place(document), Refused)
    federation = Federation(dfw=small('a1'), ord=small('a1'))
    assert sorted(map(len, places(federation.place(document)).values())) == [
        2, 2]


def test_a_location_begins_with_the_cloud():
    document = {'name': 'shop', 'members': [
        member('data', location='ord/b/b1'), member('node')]}
    federation = Federation(dfw=small('a1', 'b1'), ord=small('a1', 'b1'))
    placed = federation.place(document)
    assert places(placed) == {'ord': ['data', 'node']}
    assert federation.placement(placed)['data'] == ('ord', 'b1')


def test_data_at_home_and_the_rest_elsewhere():
    document = {'name': 'shop', 'groups': [
        {'name': 'data', 'members': [member('disk', 8)],
         'policies': [{'type': 'location', 'path': 'dfw'}]},
        {'name': 'web', 'members': [member('node', 8)]}]}
    federation = Federation(dfw=small('a1', vcpus=8), ord=small('a1', vcpus=8))
    assert places(federation.place(document)) == {
        'dfw': ['data/disk'], 'ord': ['web/node']}


def test_an_unknown_cloud_is_an_error_with_its_position():
    with pytest.raises(InvalidDocument) as caught:
        Federation(dfw=small('a1')).place({'name': 'shop', 'members': [
            member('a'), member('b', location='dwf/a')]})
    assert caught.value.place == 'members[1].location'
    assert 'dfw' in str(caught.value)


@pytest.mark.parametrize('policy', [
    {'type': 'exclusive', 'level': 'cloud'}])
def test_a_policy_that_no_parent_can_enforce_is_refused(policy):
    with pytest.raises(InvalidDocument) as caught:
        Federation(dfw=small('a1')).place({
            'name': 'shop', 'members': [member('a')], 'policies': [policy]})
    assert caught.value.place == 'policies[0].level'


def test_locations_in_two_clouds_for_tied_members_are_refused():
    document = {'name': 'shop', 'members': [
        member('a', location='dfw'), member('b', location='ord')],
        'policies': [{'type': 'affinity', 'level': 'cloud'}]}
    federation = Federation(dfw=small('a1'), ord=small('a1'))
    refused = federation.place(document)
    assert isinstance(refused, Refused)
    assert refused.reasons[0].at == 'a, b'
    assert federation.requests() == 0


def test_parts_that_do_not_fit_together_go_to_two_children():
    document = {'name': 'shop', 'groups': [
        {'name': name, 'members': [member('node', 6)]} for name in 'abc']}
    federation = Federation(dfw=small('a1', vcpus=8), ord=small(
        'a1', 'b1', vcpus=8))
    placed = federation.place(document)
    assert sorted(map(len, places(placed).values())) == [1, 2]
    assert valid(federation, document, placed)


def test_the_number_of_a_share_counts_members_in_other_clouds():
    document = {'name': 'shop', 'groups': [
        {'name': name, 'members': [member('node', 4, count=2)]}
        for name in 'ab'], 'policies': [
            {'type': 'anti-affinity', 'max_per_domain': '50%'}]}
    federation = Federation(dfw=small('a1', vcpus=8), ord=small('a1', vcpus=8))
    # Two of four members may be on one host.
    placed = federation.place(document)
    assert len(placed.parts) == 2
    assert valid(federation, document, placed)


def test_an_unreachable_child_is_left_out():
    federation = Federation(dfw=small('a1'), ord=small('a1'))

    def lost(method, when):
        raise Lost
    federation.children['dfw'].fault = lost
    assert list(places(federation.place(SHOP))) == ['ord']


def test_a_refusal_without_the_answer_of_a_child_is_unknown():
    federation = Federation(dfw=small('a1'), ord=small('a1', vcpus=1))

    def lost(method, when):
        raise Lost
    federation.children['dfw'].fault = lost
    found = federation.place(SHOP)
    assert isinstance(found, Unknown)
    assert any('no answer' in each.message for each in found.reasons)


def test_the_home_cloud_is_used_first_and_others_if_it_is_full():
    federation = Federation(
        dfw=small('a1', vcpus=16), ord=small('a1', vcpus=160),
        orders={'dfw': 0, 'ord': 1})
    assert list(places(federation.place(SHOP))) == ['dfw']
    assert federation.children['ord'].calls == []
    assert list(places(federation.place(SHOP, 'p-2'))) == ['ord']


def test_costs_decide_between_equal_clouds():
    federation = Federation(dfw=small('a1'), ord=small('a1'),
                            costs={'dfw': 2.0, 'ord': 1.0})
    assert list(places(federation.place(SHOP))) == ['ord']


def test_a_dry_run_creates_nothing():
    federation = Federation(dfw=small('a1', vcpus=8), ord=small('a1', vcpus=8))
    found = federation.offer(SHOP)
    assert isinstance(found, Offered)
    assert [len(paths) for _, paths in found.parts] == [2, 2]
    assert {method for child in federation.children.values()
            for method, _ in child.calls} == {'offer'}


def test_another_offer_is_used_if_the_chosen_one_is_gone():
    federation = Federation(dfw=small('a1', vcpus=16), ord=small('a1'))
    taken = []

    def take(method, when):
        if method == 'create' and when == 'before' and not taken:
            taken.append(federation.children['dfw'].cloud.create(
                {'name': 'other', 'members': [member('x', 16)]}))
    federation.children['dfw'].fault = take
    federation.children['ord'].fault = lambda method, when: None
    placed = federation.place(SHOP)
    assert list(places(placed)) == ['ord']
    assert placed.tries == 2
    assert [record.child for record in federation.journal.records.values()
            if record.state == 'committed'] == ['ord']


def test_a_cloud_that_is_full_since_its_offers_gets_no_further_create():
    """Another group takes the whole cloud, which is the cheapest one. Its
    offers for single parts are as old as the offer for the whole group."""
    federation = Federation(
        limits=Limits(max_tries=3), dfw=small('a1', vcpus=32),
        **{name: small('b1', vcpus=6) for name in ('ams', 'lon', 'ord')},
        costs={'dfw': 0.0, 'ams': 1.0, 'lon': 1.0, 'ord': 9.0})
    child = federation.children['dfw']

    def take(method, when):
        if method == 'create':
            child.fault = lambda method, when: None
            child.cloud.create(
                {'name': 'other', 'members': [member('large', 32)]})
    child.fault = take
    placed = federation.place({'name': 'shop', 'groups': [
        {'name': name, 'members': [member('node', vcpus)]}
        for name, vcpus in (('a', 4), ('b', 5), ('c', 6))]})
    assert set(places(placed)) == {'ams', 'lon', 'ord'}
    assert placed.tries == 2
    assert sum(federation.held().values()) == 32 + 4 + 5 + 6


def test_the_number_of_tries_is_bounded():
    federation = Federation(
        limits=Limits(max_tries=3),
        **{f'c{n}': small('a1') for n in range(5)})

    def full(method, when):
        if method == 'create':
            raise Lost
    for child in federation.children.values():
        child.fault = full
    found = federation.place(SHOP)
    assert isinstance(found, Unknown)
    assert found.tries == 3
    assert federation.held() == {}


def test_many_interchangeable_servers_need_few_requests():
    document = {'name': 'shop', 'members': [member('node', count=100)],
                'policies': [{'type': 'spread', 'level': 'cloud',
                              'min_domains': 2}]}
    federation = Federation(dfw=small('a1', 'a2', vcpus=40),
                            ord=small('a1', vcpus=60))
    placed = federation.place(document)
    assert sum(map(len, places(placed).values())) == 100
    assert federation.requests() < 20
    assert valid(federation, document, placed)


def test_no_request_is_sent_after_the_time_limit():
    federation = Federation(dfw=small('a1', vcpus=1), ord=small('a1'))
    federation.children['dfw'].fault = lambda method, when: (
        federation.time.sleep(400))
    found = federation.place(SHOP)
    assert isinstance(found, Unknown)
    assert federation.children['ord'].calls == []


def test_a_choice_of_clouds_that_takes_too_long_is_no_refusal(monkeypatch):
    """The clouds together have room, and neither has room for all members."""
    federation = Federation(dfw=small('a1'), ord=small('a1'))
    document = {'name': 'shop', 'groups': [
        {'name': name, 'members': [member('node', 10)]} for name in 'ab']}
    assert isinstance(federation.offer(document), Offered)
    monkeypatch.setattr(combiner, '_SOLVER_SECONDS', 0.0)
    assert isinstance(federation.offer(document), Unknown)


@pytest.mark.parametrize('skew, result', [(1, Refused), (2, Placed)])
def test_members_that_are_tied_to_one_cloud_are_spread_over_all_clouds(
        skew, result):
    """The location of one member binds the other one to its cloud. The other
    cloud is eligible for the other member, and has none."""
    federation = Federation(ams=small('a1'), bru=small('b1'))
    found = federation.place({
        'name': 'shop', 'groups': [
            {'name': 'fixed', 'members': [member('a', location='ams')]},
            {'name': 'free', 'members': [member('b')]}],
        'policies': [
            {'type': 'spread', 'level': 'cloud', 'max_skew': skew}],
        'relationships': [{'type': 'affinity', 'level': 'cloud',
                           'between': ['fixed', 'free']}]})
    assert isinstance(found, result)
    assert federation.held() == ({} if result is Refused else {'ams': 2})
