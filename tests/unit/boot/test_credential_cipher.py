# SPDX-License-Identifier: Apache-2.0
"""Credentials are encrypted for one row of the table, and keys can be
exchanged."""

from cryptography.fernet import Fernet
import pytest

from nova_holistic.boot.credential_cipher import CredentialCipher, InvalidKey
from nova_holistic.boot.errors import RightUnavailable

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()
GROUP = '00000000-0000-4000-8000-000000000001'
OTHER = '00000000-0000-4000-8000-000000000002'


def test_the_stored_text_does_not_contain_the_credential():
    stored = CredentialCipher([OLD]).encrypt(GROUP, 'trust-1')
    assert 'trust-1' not in stored
    assert CredentialCipher([OLD]).decrypt(GROUP, stored) == 'trust-1'


def test_keys_are_exchanged_without_an_interruption():
    before, both, after = (CredentialCipher(keys) for keys in (
        [OLD], [NEW, OLD], [NEW]))
    old = before.encrypt(GROUP, 'trust-1')
    assert both.decrypt(GROUP, old) == 'trust-1'
    assert after.decrypt(GROUP, both.encrypt(GROUP, 'trust-2')) == 'trust-2'
    with pytest.raises(RightUnavailable, match='no key'):
        after.decrypt(GROUP, old)


def test_a_stored_right_cannot_be_used_in_another_row():
    cipher = CredentialCipher([OLD])
    stored = cipher.encrypt(GROUP, 'trust-1')
    with pytest.raises(RightUnavailable, match='another group'):
        cipher.decrypt(OTHER, stored)


@pytest.mark.parametrize('stored', ['', 'trust-1', 'é', 'gAAAA'])
def test_a_damaged_row_is_reported(stored):
    with pytest.raises(RightUnavailable):
        CredentialCipher([OLD]).decrypt(GROUP, stored)


@pytest.mark.parametrize('key', [
    '', 'secret', pytest.param(OLD[:-4], id='too short'), 'é' * 44])
def test_an_invalid_key_is_named_by_its_number_only(key):
    with pytest.raises(InvalidKey, match='key 2 is not') as raised:
        CredentialCipher([OLD, key])
    assert not key or key not in str(raised.value)
