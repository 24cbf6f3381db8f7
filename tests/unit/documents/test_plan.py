# SPDX-License-Identifier: Apache-2.0
"""Plan documents are written in the documented format and read without a
change."""

import json
import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.documents.plan import parse_plan, to_document
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.plan import (
    ObjectiveValue, Placement, Plan, Preference, PreferenceCost, Reason,
    Unknown, Unplaceable)

PLAN = Plan(
    'shop',
    (Placement('db/node-0', 'cmp-1', 'cmp-1.example.org', ('az1', 'r1')),),
    ObjectiveValue('spread', 12.5, 12.0, 0.04),
    (Preference('soft-affinity', 'db', 1),),
    FrozenMapping({'solve': 0.25, 'total': 0.5}),
    PreferenceCost(2.0, 1.5, 0.25), (Reason('db', 'no links'),))

DOCUMENT = {
    'status': 'planned',
    'group': 'shop',
    'placements': [{'member': 'db/node-0', 'host': 'cmp-1',
                    'node': 'cmp-1.example.org', 'location': ['az1', 'r1']}],
    'objective': {'name': 'spread', 'value': 12.5, 'bound': 12.0,
                  'gap': 0.04},
    'preferences': [
        {'policy': 'soft-affinity', 'at': 'db', 'violations': 1}],
    'preference_cost': {'value': 2.0, 'bound': 1.5, 'gap': 0.25},
    'warnings': [{'at': 'db', 'message': 'no links'}],
    'seconds': {'solve': 0.25, 'total': 0.5},
}


def test_a_plan_is_written_in_the_documented_format():
    assert to_document(PLAN, 'shop') == DOCUMENT


def test_a_plan_is_read_from_the_documented_format():
    assert parse_plan(DOCUMENT) == PLAN
    assert parse_plan(DOCUMENT).seconds == {'solve': 0.25, 'total': 0.5}


def test_reasons_are_written_in_the_documented_format():
    result = Unplaceable((Reason('db', 'too few racks'),))
    assert to_document(result, 'shop') == {
        'status': 'unplaceable',
        'reasons': [{'at': 'db', 'message': 'too few racks'}]}


def test_an_expired_time_limit_is_written_as_unknown():
    document = to_document(Unknown('no time left'), 'shop')
    assert document['status'] == 'unknown'
    assert document['message'] == 'no time left'


def test_informative_keys_of_a_plan_are_optional():
    plan = parse_plan({
        'status': 'planned', 'group': 'shop',
        'placements': [{'member': 'a', 'host': 'cmp-1'}],
        'objective': {'name': 'spread', 'value': 1, 'bound': None,
                      'gap': None}})
    assert plan.placements == (Placement('a', 'cmp-1', 'cmp-1', ()),)
    assert plan.objective.bound == -math.inf


names = st.text(st.characters(
    exclude_categories=['Cs', 'Cc'], exclude_characters='/'),
    min_size=1, max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
seconds = st.dictionaries(
    st.text(max_size=4), st.floats(0, 1e6), max_size=3).map(FrozenMapping)
placements = st.lists(
    st.builds(Placement, names, names, names,
              st.lists(names, max_size=3).map(tuple)),
    max_size=4, unique_by=lambda p: p.member).map(tuple)
plans = st.builds(
    Plan, names, placements,
    st.builds(ObjectiveValue, names, numbers,
              numbers | st.just(-math.inf), numbers | st.just(math.inf)),
    st.lists(st.builds(Preference, names, st.text(max_size=5),
                       st.integers(0, 99), st.none() | st.text(max_size=5),
                       st.none() | st.floats(0.5, 99)),
             max_size=3).map(tuple), seconds,
    st.none() | st.builds(PreferenceCost, numbers, numbers, numbers))
no_plans = st.builds(Unplaceable, st.lists(
    st.builds(Reason, st.text(max_size=5), st.text(max_size=9)),
    max_size=3).map(tuple))
unknowns = st.builds(Unknown, st.text(max_size=9), seconds)


@given(plans | no_plans | unknowns)
def test_every_answer_survives_a_round_trip_through_json(result):
    text = json.dumps(to_document(result, 'shop'), allow_nan=False)
    read = parse_plan(json.loads(text))
    if isinstance(result, Plan):
        # A plan names its own group.
        assert read.group == 'shop'
        assert read.placements == result.placements
        assert read.objective == result.objective
        assert read.preferences == result.preferences
        assert read.preference_cost == result.preference_cost
    else:
        assert read == result
    assert read.seconds == result.seconds


@pytest.mark.parametrize('change, place', [
    ({'status': 'done'}, 'status'),
    ({'status': None}, 'status'),
    ({'group': 5}, 'group'),
    ({'host': 'a'}, 'host'),
    ({'placements': {}}, 'placements'),
    ({'placements': [{'member': 'a'}]}, 'placements[0]'),
    ({'placements': [{'member': 'a', 'host': 'x'}] * 2},
     'placements[1].member'),
    ({'placements': [{'member': 'a', 'host': 'x\ny'}]},
     'placements[0].host'),
    ({'objective': {'name': 'spread'}}, 'objective'),
    ({'objective': {'name': 'spread', 'value': None, 'bound': 1, 'gap': 0}},
     'objective.value'),
    ({'objective': {'name': 'spread', 'value': 1, 'bound': 'x', 'gap': 0}},
     'objective.bound'),
    ({'preferences': [{'policy': 'a', 'at': '', 'violations': -1}]},
     'preferences[0].violations'),
    ({'seconds': {'total': -1}}, 'seconds.total'),
    ({'status': 'unplaceable'}, 'group'),
])
def test_an_error_names_its_position(change, place):
    with pytest.raises(InvalidDocument) as caught:
        parse_plan({**DOCUMENT, **change})
    assert caught.value.place == place


junk = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3)
    | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=10)


@given(st.sampled_from(sorted(DOCUMENT)), junk)
def test_arbitrary_content_is_refused_in_one_line(key, value):
    try:
        parse_plan({**DOCUMENT, key: value})
    except InvalidDocument as error:
        assert '\n' not in str(error)
