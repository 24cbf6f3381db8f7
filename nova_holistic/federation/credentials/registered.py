# SPDX-License-Identifier: Apache-2.0
"""Application credentials that users register for children with a separate
keystone.

A credential belongs to one user and one project of the parent, and is used
only for requests of this user in this project.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
import json

from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1.identity import v3
from keystoneauth1.plugin import BaseAuthPlugin
from keystoneauth1.session import Session

from nova_holistic.boot.credential_cipher import CredentialCipher
from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.errors import (
    ChildUnreachable, CredentialRefused)
from nova_holistic.table.coordination.child_credentials import (
    ChildCredentials)


class RegisteredCredentials:
    """Stores credentials in the table. The encryption includes the user,
    project and child, so that a credential is not valid in another row."""

    def __init__(self, rows: ChildCredentials, cipher: CredentialCipher,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._rows = rows
        self._cipher = cipher
        self._clock = clock

    def register(self, user: User, child: ChildEntry, credential_id: str,
                 secret: str, session: Session) -> None:
        """Store a credential in place of an earlier one.

        :param session: to the keystone of the child, with a time limit
        :raises CredentialRefused: the child's keystone does not accept it
        :raises ChildUnreachable: the child's keystone does not answer
        """
        auth = _auth(child, credential_id, secret)
        try:
            auth.get_access(session)
        except ks_exceptions.HttpError as error:
            if error.http_status >= 500:
                raise ChildUnreachable(
                    f'keystone of {child.name}: {error}') from error
            raise CredentialRefused(
                f'the keystone of {child.name} does not accept the '
                'application credential') from error
        # OSError: the certificates of the child are missing.
        except (ks_exceptions.ClientException, OSError) as error:
            raise ChildUnreachable(
                f'keystone of {child.name}: {error}') from error
        self._rows.put(
            user.user_id, user.project_id, child.name,
            self._cipher.encrypt(_owner(user, child.name), json.dumps(
                {'id': credential_id, 'secret': secret})), self._clock())

    def authentication(self, user: User,
                       child: ChildEntry) -> BaseAuthPlugin | None:
        """The authentication of the user in a child; None if the user has
        registered no credential.

        :raises RightUnavailable: no key decrypts the credential
        """
        encrypted = self._rows.get(
            user.user_id, user.project_id, child.name)
        if encrypted is None:
            return None
        found = json.loads(self._cipher.decrypt(
            _owner(user, child.name), encrypted))
        return _auth(child, found['id'], found['secret'])

    def registered(self, user: User) -> Mapping[str, datetime]:
        """Name of each child with a credential of the user, to the time of the
        registration in naive UTC."""
        return self._rows.of_user(user.user_id, user.project_id)

    def delete(self, user: User, child: str) -> bool:
        """Delete a credential; False: the user has no credential for the
        child."""
        return self._rows.delete(user.user_id, user.project_id, child)


def _owner(user: User, child: str) -> str:
    """A text without spaces that identifies the user, project and child."""
    return json.dumps([user.user_id, user.project_id, child],
                      separators=(',', ':')).replace(' ', '\\u0020')


def _auth(child: ChildEntry, credential_id: str,
          secret: str) -> BaseAuthPlugin:
    return v3.ApplicationCredential(
        child.keystone, application_credential_id=credential_id,
        application_credential_secret=secret)
