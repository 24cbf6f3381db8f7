# SPDX-License-Identifier: Apache-2.0
"""Encryption of the rights to act for users."""

from collections.abc import Sequence

from cryptography import fernet

from nova_holistic.boot.errors import RightUnavailable
from nova_holistic import exceptions


class InvalidKey(exceptions.HolisticError):
    """An option contains a text that is not a key."""


class CredentialCipher:
    """The first key encrypts; each key decrypts.

    A credential is encrypted together with the UUID of its group, so that no
    other row of the table can use it.
    """

    def __init__(self, keys: Sequence[str]):
        """
        :param keys: at least one: URL-safe base64 of 32 bytes
        :raises InvalidKey: a key has another form; the message does not
            contain the key
        """
        ciphers = []
        for number, key in enumerate(keys, 1):
            try:
                ciphers.append(fernet.Fernet(key))
            except ValueError as error:
                raise InvalidKey(
                    f'[boot] encryption_keys: key {number} is not URL-safe '
                    'base64 of 32 bytes') from error
        self._cipher = fernet.MultiFernet(ciphers)

    def encrypt(self, group_uuid: str, credential: str) -> str:
        return self._cipher.encrypt(
            f'{group_uuid} {credential}'.encode()).decode()

    def decrypt(self, group_uuid: str, encrypted: str) -> str:
        """:raises RightUnavailable: no key decrypts it, or it belongs to
            another group
        """
        try:
            text = self._cipher.decrypt(encrypted).decode()
        except (fernet.InvalidToken, ValueError):
            raise RightUnavailable(
                'no key of [boot] encryption_keys decrypts the right to act '
                f'for the user of group {group_uuid}') from None
        group, _, credential = text.partition(' ')
        if group != group_uuid:
            raise RightUnavailable(
                f'the right in the row of group {group_uuid} belongs to '
                'another group')
        return credential
