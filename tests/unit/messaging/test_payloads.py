# SPDX-License-Identifier: Apache-2.0
"""The messages that engines accept, and the names in their refusals."""

import json
import math

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.messaging import payloads

GROUP = '5f0c8a52-8a1f-4f0e-9d55-1f6f6bb2f6a1'
NAMES = st.from_regex(payloads.STATISTIC_NAME, fullmatch=True)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(
    -10**300, 10**300)
STATS = st.dictionaries(NAMES, NUMBERS, min_size=1, max_size=64)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8)
KINDS = (payloads.GroupPayload, payloads.PlanPayload, payloads.Release,
         payloads.Extend, payloads.HostStatistics, payloads.Delete)


def refused(kind, **arguments):
    """The position in the refusal of a payload."""
    with pytest.raises(InvalidDocument) as caught:
        kind.from_document(arguments)
    return caught.value.place


def stats(**values):
    return refused(payloads.HostStatistics, name='cmp-1', stats=values)


@given(STATS)
def test_numbers_arrive_unchanged(values):
    sent = payloads.HostStatistics('cmp-1', values)
    text = json.dumps(sent.to_document(), allow_nan=False)
    arrived = payloads.HostStatistics.from_document(json.loads(text))
    assert dict(arrived.stats) == {
        name: float(value) for name, value in values.items()}


@given(st.sampled_from(KINDS), st.dictionaries(
    st.sampled_from(['group_uuid', 'plan_uuid', 'members', 'seconds', 'name',
                     'stats', 'revision']) | st.text(), ANYTHING))
def test_any_document_is_accepted_whole_or_refused_by_name(kind, document):
    try:
        payload = kind.from_document(document)
    except InvalidDocument as error:
        assert error.place or '' in document
    else:
        given = {name for name, value in document.items()
                 if (name, value) != ('revision', None)}
        assert given == set(payload.to_document())
        json.dumps(payload.to_document(), allow_nan=False)


@pytest.mark.parametrize('kind, more', [
    (payloads.Delete, {}), (payloads.Extend, {'seconds': 60}),
    (payloads.Release, {'members': None})])
def test_a_message_without_a_revision_is_that_of_the_earlier_version(
        kind, more):
    """During an upgrade, the sender or the receiver may have the earlier
    version."""
    document = {'group_uuid': GROUP, **more}
    payload = kind.from_document(document)
    assert (payload.revision, payload.to_document()) == (None, document)
    for revision in 0, 3:
        named = {**document, 'revision': revision}
        assert kind.from_document(named).to_document() == named
    for wrong in -1, '3', True, 1.0:
        assert refused(kind, **document, revision=wrong) == 'revision'


@pytest.mark.parametrize('value', [
    True, False, None, '1', [1], {'x': 1}, math.nan, math.inf, -math.inf,
    10**400])
def test_a_value_other_than_a_finite_number_is_refused(value):
    assert stats(load=1.0, heat=value) == 'stats.heat'


@pytest.mark.parametrize('name', [
    '', ' ', 'a b', 'a/b', 'é', 'a\n', 'x' * 256, "'; DROP TABLE"])
def test_an_invalid_name_of_a_statistic_is_refused(name):
    with pytest.raises(InvalidDocument, match='is not a valid name'):
        payloads.HostStatistics('cmp-1', {name: 1.0})


def test_a_report_has_1_to_64_statistics():
    many = {f'n{i}': 1.0 for i in range(65)}
    assert stats(**many) == 'stats'
    many.popitem()
    assert len(payloads.HostStatistics('cmp-1', many).stats) == 64
    assert stats() == 'stats'


@pytest.mark.parametrize('name', [None, 7, '', 'x' * 256, 'a\x00', '\ud800'])
def test_an_invalid_name_of_a_host_is_refused(name):
    assert refused(payloads.HostStatistics, name=name,
                   stats={'a': 1}) == 'name'


@pytest.mark.parametrize('uuid', [
    None, 7, '', 'shop', GROUP.upper(), GROUP.replace('-', ''),
    f'{{{GROUP}}}', GROUP + ' '])
def test_a_group_uuid_must_be_in_canonical_form(uuid):
    assert refused(payloads.GroupPayload, group_uuid=uuid) == 'group_uuid'


@pytest.mark.parametrize('seconds', [
    True, 1.0, '60', None, 0, -1, payloads.MAX_SECONDS + 1])
def test_a_lease_must_be_a_positive_integer_of_seconds(seconds):
    assert refused(payloads.Extend, group_uuid=GROUP,
                   seconds=seconds) == 'seconds'


@pytest.mark.parametrize('members, place', [
    ('web', 'members'), ({'web': 1}, 'members'), (['web', 7], 'members[1]'),
    (['', 'web'], 'members[0]'), (['x' * 701], 'members[0]'),
    (['x'] * 10_001, 'members')])
def test_members_must_be_a_list_of_paths(members, place):
    assert refused(payloads.Release, group_uuid=GROUP,
                   members=members) == place


def test_members_may_be_none_for_all_members():
    sent = payloads.Release(GROUP, None).to_document()
    assert payloads.Release.from_document(sent).members is None


def test_unknown_and_missing_keys_are_named():
    assert refused(payloads.GroupPayload, group_uuid=GROUP,
                   force=True) == 'force'
    assert refused(payloads.Extend, group_uuid=GROUP) == 'seconds'
