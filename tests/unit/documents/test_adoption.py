# SPDX-License-Identifier: Apache-2.0
"""The key adopt of a group document names existing servers."""

import pytest

from nova_holistic.documents.groups.adoption import (
    adoptions, must_not_adopt, with_adoptions, without_adoptions)
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.policies import load_policy_types

ONE = '5f0a2f6e-8f3c-4a45-9d0e-3d1c7be0a6d1'
TWO = '0c9d7f0b-6a52-4b5e-8f11-7e9a4c2b3d90'


def shop(adopt, **more):
    return {'name': 'shop', 'members': [{'name': 'web', 'flavor': 'small'}],
            'groups': [{'name': 'db', 'members': [
                {'name': 'node', 'count': 2, 'skip': [0],
                 'flavor': 'small'}]}], 'adopt': adopt, **more}


def mistakes(document):
    with pytest.raises(InvalidDocument) as refused:
        parse_group(document, load_policy_types())
    return [str(each) for each in refused.value.mistakes]


def test_servers_are_adopted_by_the_paths_of_members():
    document = {'group': shop({'web': ONE.upper(), 'db/node-1': TWO})}
    assert parse_group(document, load_policy_types()).name == 'shop'
    assert adoptions(document) == {'web': ONE, 'db/node-1': TWO}
    assert without_adoptions(document)['group'].keys() == {
        'name', 'members', 'groups'}
    assert adoptions(without_adoptions(document)) == {}
    assert adoptions(with_adoptions(document, {'web': TWO})) == {'web': TWO}


def test_each_mistake_has_its_position():
    assert mistakes(shop({
        'web': ONE, 'db/node-1': ONE, 'db/node-0': TWO,
        'db/node': '0' * 8 + TWO[8:]})) == [
        f"adopt['db/node-1']: server {ONE} is adopted as 'web' already",
        "adopt['db/node-0']: there is no member 'db/node-0'",
        "adopt['db/node']: 'db/node' has a count: name one of its servers, "
        "such as 'db/node-1'"]


def test_the_list_does_not_hide_other_mistakes():
    found = mistakes(shop({'web': 'one', '//': ONE}, policy=[]))
    assert [each.partition(':')[0] for each in found] == [
        'policy', "adopt['//']", 'adopt.web']
    nested = shop({})
    nested['groups'][0]['adopt'] = {'node-1': ONE}
    assert mistakes(nested) == [
        'groups[0].adopt: only the top-level group adopts servers']


def test_a_caller_that_reads_no_servers_refuses_the_key():
    must_not_adopt(without_adoptions(shop({})))
    for document in (shop({}), {'group': shop({})}):
        with pytest.raises(InvalidDocument, match='^adopt: '):
            must_not_adopt(document)
