# SPDX-License-Identifier: Apache-2.0
"""Each optimisation saves requests. An optimisation with wrong facts costs
time, but does not change the result."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.federation.facts.facts import Facts
from nova_holistic.federation.offers.hardening import harden, thresholds
from nova_holistic.federation.offers.strategy import BRUTE_FORCE, Strategy
from nova_holistic.federation.results import Placed, Refused
from tests.unit.federation.clouds import (
    Federation, member, NOON, small)

SHOP = {'name': 'shop', 'groups': [
    {'name': name, 'members': [member('node', 4)]} for name in 'abc']}
GOVERNED = {'name': 'shop', 'members': [member('node', 4)], 'policies': [
    {'type': 'traits', 'required': ['CUSTOM_HIPAA']}]}


def federation(strategy, number=8, vcpus=16, facts=None, **more):
    return Federation(strategy, facts=facts, **{
        f'c{n}': small('a1', vcpus=vcpus, **more) for n in range(number)})


def asked(one):
    return {name for name, child in one.children.items() if child.offers()}


def test_brute_force_requests_everything_of_everyone():
    one = federation(BRUTE_FORCE)
    assert isinstance(one.place(SHOP), Placed)
    assert one.requests() == 8 * (1 + 3)


# Pruning.

def governed(facts):
    """Only one of eight clouds has the trait."""
    clouds = {f'c{n}': small('a1', traits=frozenset(
        {'CUSTOM_HIPAA'} if n == 5 else ())) for n in range(8)}
    return Federation(Strategy(pruning=True), facts=facts, **clouds)


RIGHT = {f'c{n}': Facts(traits=frozenset(
    {'CUSTOM_HIPAA'} if n == 5 else ())) for n in range(8)}


def test_pruning_saves_requests_that_facts_exclude():
    one = governed(RIGHT)
    assert [part.child for part in one.place(GOVERNED).parts] == ['c5']
    assert asked(one) == {'c5'}
    assert one.requests() == 1


def test_pruning_saves_the_requests_for_single_parts():
    one = governed(RIGHT)
    document = {'name': 'shop', 'groups': [
        {'name': 'web', 'members': [member('node', 14)]},
        {'name': 'data', 'members': GOVERNED['members'],
         'policies': GOVERNED['policies']}]}
    assert len(one.place(document).parts) == 2
    # The web servers fit into every cloud, the others only into one.
    assert one.requests() == 8 + 1 + 1


def test_out_of_date_facts_cost_requests_and_no_answer():
    wrong = {name: Facts(traits=frozenset()) for name in RIGHT}
    one = governed(wrong)
    assert [part.child for part in one.place(GOVERNED).parts] == ['c5']
    assert asked(one) == set(RIGHT)


def test_facts_that_were_read_too_long_ago_are_not_used():
    old = {name: replace(facts, read_at=NOON - timedelta(seconds=301))
           for name, facts in RIGHT.items()}
    one = governed(old)
    assert [part.child for part in one.place(GOVERNED).parts] == ['c5']
    assert asked(one) == set(RIGHT)


def test_facts_of_a_full_cloud_do_not_place_a_group():
    one = Federation(Strategy(pruning=True), facts={
        'c0': Facts(largest={'VCPU': 64})}, c0=small('a1', vcpus=1))
    assert isinstance(one.place(GOVERNED), Refused)


@pytest.mark.parametrize('facts, excluded', [
    (Facts(), False),
    (Facts(largest={'VCPU': 3}), True),
    (Facts(largest={'VCPU': 4}), False),
    (Facts(zones=frozenset({'az2'})), True),
    (Facts(zones=frozenset({'az1'})), False),
    (Facts(aggregates=frozenset({'hdd'})), True),
    (Facts(aggregates=frozenset({'ssd', 'hdd'})), False)])
def test_each_fact(facts, excluded):
    one = Federation(
        Strategy(pruning=True), facts={'c0': facts},
        c0=small('a1', availability_zone='az1',
                 aggregates=frozenset({'ssd'})),
        c1=small('a1', availability_zone='az1',
                 aggregates=frozenset({'ssd'})))
    one.place({'name': 'shop', 'members': [member(
        'node', 4, availability_zone='az1', aggregates=['ssd'])]})
    assert asked(one) == ({'c1'} if excluded else {'c0', 'c1'})


# The best offers.

def test_top_limits_the_children_that_offer_further_parts():
    one = federation(Strategy(top=2), vcpus=8)
    assert isinstance(one.place(SHOP), Placed)
    # Each child gets requests for the whole group and the first part, and two
    # children get requests for the other parts. Then one offer covers two
    # parts together.
    assert one.requests() <= 8 * 2 + 2 * 2 + 2
    assert one.requests() < federation_requests(BRUTE_FORCE, vcpus=8)


def federation_requests(strategy, **options):
    one = federation(strategy, **options)
    assert isinstance(one.place(SHOP), Placed)
    return one.requests()


def test_top_with_too_few_children_continues_with_all():
    one = federation(Strategy(top=1), vcpus=4)
    placed = one.place(SHOP)
    assert len(placed.parts) == 3


# Threshold search.

PREFERRED = {'name': 'shop', 'members': [member('node', count=2)],
             'policies': [
                 {'type': 'anti-affinity', 'level': 'rack', 'weight': 5},
                 {'type': 'location', 'path': 'c9/a', 'weight': 1}]}


def test_the_threshold_search_stops_at_a_perfect_offer():
    clouds = {f'c{n}': small('a1', 'b1') for n in range(8)}
    document = {**PREFERRED, 'policies': PREFERRED['policies'][:1]}
    one = Federation(Strategy(threshold=True, batch=2), **clouds)
    placed = one.place(document)
    assert placed.violations == 0
    assert one.requests() == 2
    assert asked(one) == {'c0', 'c1'}


def test_the_threshold_search_relaxes_the_lowest_weights_first():
    clouds = {f'c{n}': small('a1', *(['b1'] if n == 3 else ()))
              for n in range(4)}
    one = Federation(Strategy(threshold=True, batch=2), **clouds)
    document = {**PREFERRED, 'policies': [
        PREFERRED['policies'][0],
        {'type': 'traits', 'required': ['CUSTOM_GPU'], 'weight': 1}]}
    placed = one.place(document)
    assert [part.child for part in placed.parts] == ['c3']
    # Both servers lack the trait.
    assert placed.violations == 2


def test_the_threshold_search_places_without_any_preference_met():
    one = Federation(Strategy(threshold=True), c0=small('a1'))
    document = {**PREFERRED, 'policies': PREFERRED['policies'][:1]}
    placed = one.place(document)
    assert placed.violations == 5
    # The last request to the cloud contains the rule as a preference.
    assert [doc['policies'][0].get('weight')
            for doc in one.children['c0'].offers()] == [None, 5]


def test_steps_of_weights():
    document = {'name': 'g', 'policies': [
        {'type': 'affinity', 'weight': w} for w in (3, 1, 2, 9, 3)],
        'groups': [{'name': 'h', 'policies': [{'type': 'soft-affinity'}]}]}
    assert thresholds(document) == (1.0, 2, 3, None)
    hard = harden(document, 2)
    assert [rule.get('weight') for rule in hard['policies']] == [
        None, 1, None, None, None]
    assert hard['groups'][0]['policies'] == [{'type': 'soft-affinity'}]
    assert harden(document, 1.0)['groups'][0]['policies'] == [
        {'type': 'affinity'}]


# The most likely child first.

def test_the_most_likely_child_receives_the_first_request():
    clouds = {f'c{n}': small('a1', vcpus=64 if n == 6 else 1)
              for n in range(8)}
    one = Federation(Strategy(likely_first=True, batch=1), **clouds)
    assert [part.child for part in one.place(SHOP, 'p-1').parts] == ['c6']
    first = one.requests()
    one.place(SHOP, 'p-2')
    assert (first, one.requests() - first) == (7, 1)


def test_a_full_cloud_that_was_likely_costs_requests_and_no_answer():
    clouds = {f'c{n}': small('a1', vcpus=12 if n == 6 else 1)
              for n in range(7)}
    one = Federation(Strategy(likely_first=True, batch=1),
                     **clouds, c7=small('a1', vcpus=12))
    assert [part.child for part in one.place(SHOP, 'p-1').parts] == ['c6']
    assert [part.child for part in one.place(SHOP, 'p-2').parts] == ['c7']


# Good enough.

def test_the_search_stops_at_an_offer_that_is_good_enough():
    clouds = {f'c{n}': small('a1', *(['b1'] if n == 7 else ()))
              for n in range(8)}
    document = {**PREFERRED, 'policies': PREFERRED['policies'][:1]}
    one = Federation(Strategy(good_enough=5.0, batch=2), **clouds)
    assert one.place(document).violations == 5
    assert one.requests() == 2
    two = Federation(Strategy(good_enough=4.0, batch=2), **clouds)
    assert two.place(document).violations == 0


# Bursting.

def test_a_cloud_with_a_large_share_in_use_is_used_last():
    one = Federation(
        Strategy(burst_share=0.8), orders={'c0': 0, 'c1': 1},
        facts={'c0': Facts(share_in_use=0.9)},
        c0=small('a1', vcpus=64), c1=small('a1', vcpus=12))
    assert [part.child for part in one.place(SHOP, 'p-1').parts] == ['c1']
    # Now the other cloud is full.
    assert [part.child for part in one.place(SHOP, 'p-2').parts] == ['c0']


def test_all_optimisations_together():
    one = Federation(
        Strategy(pruning=True, top=2, threshold=True, likely_first=True,
                 good_enough=1.0, batch=2),
        facts={'c0': Facts(largest={'VCPU': 1})},
        **{f'c{n}': small('a1', vcpus=8) for n in range(6)})
    assert len(one.place(SHOP).parts) == 2
    assert one.children['c0'].offers() == []


@pytest.mark.parametrize('strategy', [
    Strategy(top=1), Strategy(threshold=True), Strategy(likely_first=True),
    Strategy(good_enough=0.0), Strategy(pruning=True)], ids=repr)
def test_no_optimisation_refuses_a_group_that_fits(strategy):
    document = {'name': 'shop', 'groups': [
        {'name': name, 'members': [member('node', 3, count=2)]}
        for name in 'abcd'], 'policies': [
            {'type': 'anti-affinity', 'level': 'host', 'weight': 1}]}
    one = Federation(strategy, **{
        f'c{n}': small('a1', vcpus=6) for n in range(4)})
    assert len(one.place(document).parts) == 4
