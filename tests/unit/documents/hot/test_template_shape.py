# SPDX-License-Identifier: Apache-2.0
"""A document that is not a template is refused in bounded time."""

import pytest

from nova_holistic.documents.definition import read_definition
from nova_holistic.documents.source.text import load
from nova_holistic.exceptions import InvalidDocument
from tests.unit.documents.hot.templates import (
    refusal, server, template, TYPES)


def test_a_document_without_a_version_is_a_group_document():
    group = read_definition({'name': 'shop', 'members': [
        {'name': 'a', 'flavor': 'm1.small'}]}, TYPES, {})
    assert [m.path for m in group.all_members()] == ['a']
    with pytest.raises(InvalidDocument) as caught:
        read_definition({'name': 'shop'}, TYPES, {'size': 'large'})
    assert 'heat_template_version' in str(caught.value)


@pytest.mark.parametrize('changes, place, words', [
    ({'heat_template_version': '2001-01-01'}, 'heat_template_version',
     '2021-04-16'),
    ({'heat_template_version': 7}, 'heat_template_version', '7'),
    ({'resources': None}, '', 'resources is missing'),
    ({'resources': []}, 'resources', 'a mapping'),
    ({'resources': {}}, 'resources', 'no servers'),
    ({'resources': {'a': None}}, 'resources.a', 'a mapping'),
    ({'resources': {'a': {'type': 'OS::Nova::Server', 'properties': 'x'}}},
     'resources.a.properties', 'a mapping'),
    ({'parameters': []}, 'parameters', 'a mapping'),
    ({'Resources': {}}, 'Resources', 'unknown key'),
    ({'outputs': {'x': {1: 2}}}, 'outputs.x', 'a key must be text'),
    ({'outputs': {'x': {'value': 10**64}}}, 'outputs.x.value', 'digits'),
    ({'outputs': {'x': {1, 2}}}, 'outputs.x', 'plain'),
])
def test_a_malformed_template_is_refused(changes, place, words):
    found, message = refusal({**template({'a': server()}), **changes})
    assert found == place
    assert words in message


def test_a_merge_key_is_refused():
    place, message = refusal(load('''
heat_template_version: 2021-04-16
resources:
  a: &a {type: OS::Nova::Server, properties: {flavor: m1.small}}
  b:
    <<: *a
'''))
    assert place == "resources.b['<<']"
    assert 'merge keys' in message


def test_a_template_that_contains_itself_is_refused():
    document = template({'a': server()})
    document['outputs'] = document
    assert 'deep' in refusal(document)[1]


def test_a_list_repeated_for_every_server_is_limited():
    document = template(
        {'web': {'type': 'OS::Heat::ResourceGroup', 'properties': {
            'count': 9000, 'resource_def': server('m%index%')}}},
        {'g': {'members': [{'resource': 'web', 'aggregates': [
            f'a{n}' for n in range(1000)]}]}})
    assert 'values' in refusal(document)[1]
