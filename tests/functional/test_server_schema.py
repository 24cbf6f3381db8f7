# SPDX-License-Identifier: Apache-2.0
"""The schema of the key ``server`` accepts what Nova's own schema accepts."""

import re

from nova.api.openstack.compute.schemas import servers as nova_schemas
from nova.api.validation import parameter_types
from nova.api.validation import validators
from nova import exception
import pytest

from nova_holistic.documents.schemas.server import REFUSED, SERVER
from nova_holistic.documents.servers.value_formats import FORMATS, is_printable
from nova_holistic.documents.validation import validator
from nova_holistic.exceptions import InvalidDocument

pytestmark = pytest.mark.embedded_cloud

NOVA = nova_schemas.create_v294
UUID = '155d900f-4e14-4e4c-a73d-069cbf4541e6'
REQUIRED = {'name': 'a', 'flavorRef': '1', 'networks': 'auto'}
ODD = (None, True, False, 0, 1, -1, 2**31, '', ' ', 'a', 'a b', ' a', 'a ',
       'a/b', 'a,b', 'a.b', 'a:b', 'a_b', 'a-b', 'ä', '\x00',
       '\u2028', '\U0001f600', 'true', 'On', 'oN', '0', '-1', '01', '1.5',
       '99999999999', 'auto', 'none', 'AUTO', 'MANUAL', 'YQ==', 'YQ=', '*',
       '10.0.0.1', '10.0.0', '::1', '::g', UUID, UUID.upper(),
       UUID.replace('-', ''), f'{{{UUID}}}', f'urn:uuid:{UUID}', UUID[:-1],
       'x' * 60, 'x' * 61, 'x' * 255, 'x' * 256, 'x' * 65536, 'local',
       'volume', 'image', 'snapshot', 'blank', [], {}, [None], [1], ['a'],
       ['a', 'a'], ['a/b'], ['x' * 61], [{}], {'a': 'b'}, {'a': 1},
       {'a/b': 'c'}, {'': 'c'}, {'a': 'x' * 256}, {'x' * 256: 'a'}, [{'a': 1}],
       [{'name': 'a'}], [{'name': ''}], [{'name': 'a', 'x': 1}],
       [{'uuid': UUID}], [{'uuid': 'a'}])
NESTED = {'networks': ('uuid', 'port', 'fixed_ip', 'tag', 'x'),
          'security_groups': ('name', 'x'),
          'block_device_mapping_v2': (
              *NOVA['properties']['server']['properties'][
                  'block_device_mapping_v2']['items']['properties'], 'x')}

check_ours = validator(SERVER, FORMATS)
check_novas = validators._SchemaValidator(NOVA)


def accepts_ours(server):
    try:
        check_ours(server)
    except InvalidDocument:
        return False
    return True


def accepts_novas(server):
    try:
        check_novas.validate({'server': {**REQUIRED, **server}})
    except (exception.ValidationError, UnicodeDecodeError):
        # Nova responds with 500 to user data that are not ASCII.
        return False
    return True


def test_every_key_of_novas_create_is_known():
    newest = set(NOVA['properties']['server']['properties'])
    assert newest - set(SERVER['properties']) == set(REFUSED) - {
        'os:scheduler_hints', 'scheduler_hints', 'personality'}
    assert set(SERVER['properties']) <= newest


def test_every_key_of_a_device_is_known():
    def keys(schema):
        return set(schema['properties']['block_device_mapping_v2']['items'][
            'properties'])
    assert keys(SERVER) == keys(NOVA['properties']['server'])


@pytest.mark.parametrize('key', sorted(
    set(SERVER['properties']) - {'name'}))
def test_values_are_accepted_as_nova_accepts_them(key):
    differing = [value for value in ODD
                 if accepts_ours({key: value}) != accepts_novas({key: value})]
    assert not differing


@pytest.mark.parametrize('key, inner', [
    (key, inner) for key, keys in NESTED.items() for inner in keys])
def test_values_in_lists_are_accepted_as_nova_accepts_them(key, inner):
    differing = [
        value for value in ODD if accepts_ours({key: [{inner: value}]})
        != accepts_novas({key: [{inner: value}]})]
    assert not differing


def test_every_character_is_checked_as_nova_checks_it():
    pattern = re.compile(parameter_types.valid_description_regex)
    characters = [chr(number) for number in range(0x11000)
                  if chr(number) != '\n']
    assert [char for char in characters if is_printable(char)
            != bool(pattern.match(char))] == []
