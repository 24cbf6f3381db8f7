# SPDX-License-Identifier: Apache-2.0
"""The file with credentials of the operator in children."""

from keystoneauth1.identity import v3
import pytest

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation.credentials import operator_file

AUTH = {'auth_url': 'http://example.org/v3', 'application_credential_id': 'x',
        'application_credential_secret': 'open sesame'}
GOOD = {'auth_type': 'v3applicationcredential', 'auth': AUTH}


def test_each_child_has_its_own_authentication():
    found = operator_file.parse(
        {'credentials': {'ams': GOOD, 'dfw': {
            'auth_type': 'admin_token', 'auth': {
                'endpoint': 'http://example.org', 'token': 'x'}}}},
        ['ams', 'dfw', 'lon'])
    assert set(found) == {'ams', 'dfw'}
    assert isinstance(found['ams'], v3.ApplicationCredential)
    assert found['dfw'].get_token(None) == 'x'


@pytest.mark.parametrize('document, place', [
    ([], ''), ({}, ''), ({'credentials': {'ams': {}}}, 'credentials.ams'),
    ({'credentials': {'bru': GOOD}}, 'credentials.bru'),
    ({'credentials': {'ams': {**GOOD, 'auth_type': 'guess'}}},
     'credentials.ams.auth_type'),
    ({'credentials': {'ams': {**GOOD, 'auth': {}}}}, 'credentials.ams.auth'),
    ({'credentials': {'ams': {**GOOD, 'auth': {**AUTH, 'colour': 'red'}}}},
     'credentials.ams.auth'),
    ({'credentials': {'ams': {**GOOD, 'auth': {'auth_url': []}}}},
     'credentials.ams.auth.auth_url')])
def test_mistakes_have_their_position_and_no_secret(document, place):
    with pytest.raises(InvalidDocument) as caught:
        operator_file.parse(document, ['ams'])
    assert caught.value.place == place
    assert 'sesame' not in str(caught.value)
