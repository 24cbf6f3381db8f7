# SPDX-License-Identifier: Apache-2.0
"""A child accepts the documents of some parts of a group only: the other parts
may be there nevertheless."""

import pytest

from nova_holistic.federation.child import Refusal, RefusalKind
from nova_holistic.federation.http import answers
from nova_holistic.federation.results import Placed, Refused, Unknown
from tests.unit.federation.clouds import Federation, member, small

KINDS = [RefusalKind.DENIED, RefusalKind.INVALID]


def shop(names, vcpus=4, **more):
    """Return a group of nested groups with one server each."""
    return {'name': 'shop', **more, 'groups': [
        {'name': name, 'members': [member('node', vcpus)]} for name in names]}


def refusal(cloud, kind):
    return Refusal(cloud, kind, (answers.reason(
        cloud, '', 'policy does not allow it'),))


def refuse(federation, cloud, name, kind):
    """Let a cloud refuse each document with this nested group."""
    child = federation.children[cloud]
    offer = child.offer

    def refusing(document, *words):
        if name in {each['name'] for each in document['groups']}:
            return refusal(cloud, kind)
        return offer(document, *words)
    child.offer = refusing


def places(placed):
    assert isinstance(placed, Placed), placed
    return {path: part.child for part in placed.parts for path in part.paths}


@pytest.mark.parametrize('kind', KINDS)
def test_a_refused_part_excludes_no_other_part_from_the_cloud(kind):
    """The user may have part a in dfw only, where both parts do not fit."""
    federation = Federation(ams=small('a1'), dfw=small('b1', vcpus=4))
    refuse(federation, 'ams', 'a', kind)
    assert places(federation.place(shop('ab'))) == {
        'a/node': 'dfw', 'b/node': 'ams'}


def test_a_part_that_fits_nowhere_else_is_refused():
    federation = Federation(ams=small('a1'), dfw=small('b1', vcpus=1))
    refuse(federation, 'ams', 'a', RefusalKind.DENIED)
    found = federation.place(shop('ab'))
    assert isinstance(found, Refused)
    assert 'cloud ams: policy does not allow it' in [
        each.message for each in found.reasons]
    assert federation.held() == {}


@pytest.mark.parametrize('kind', KINDS)
def test_a_cloud_that_takes_some_parts_counts_for_an_even_spread(kind):
    """Only one of six parts fits into dfw, which alone may have part a."""
    document = shop('abcdef', 1, policies=[
        {'type': 'spread', 'level': 'cloud', 'max_skew': 1}])
    for size, kinds in ((1, Refused), (3, Placed)):
        federation = Federation(ams=small('a1'), dfw=small('b1', vcpus=size))
        refuse(federation, 'ams', 'a', kind)
        found = federation.place(document)
        assert isinstance(found, kinds), found
    assert sorted(map(len, (each.paths for each in found.parts))) == [3, 3]


def test_a_cloud_that_denies_every_part_does_not_count_for_a_spread():
    federation = Federation(ams=small('a1'), dfw=small('b1'))
    federation.children['ams'].offer = lambda *words: refusal(
        'ams', RefusalKind.DENIED)
    assert set(places(federation.place(shop('abc', 1, policies=[
        {'type': 'spread', 'level': 'cloud', 'max_skew': 1}]))).values()) == {
            'dfw'}


def test_no_cloud_has_decided_if_all_deny_every_part():
    federation = Federation(ams=small('a1'), dfw=small('b1'))
    for name, kind in (('ams', RefusalKind.DENIED),
                       ('dfw', RefusalKind.FORBIDDEN)):
        federation.children[name].offer = (
            lambda *words, no=refusal(name, kind): no)
    found = federation.place(shop('ab'))
    assert isinstance(found, Unknown)
    assert '(ams, dfw)' in found.reasons[0].message


def test_a_denied_create_request_concerns_all_parts():
    """The user may request plans in ams, and create no group there."""
    federation = Federation(ams=small('a1'), dfw=small('b1'))
    child = federation.children['ams']
    created = []

    def create(*words):
        created.append(words)
        return refusal('ams', RefusalKind.DENIED)
    child.create = create
    placed = federation.place(shop('ab', 8))
    assert set(places(placed).values()) == {'dfw'}
    assert (len(created), placed.tries) == (1, 2)
