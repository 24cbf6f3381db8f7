# SPDX-License-Identifier: Apache-2.0
"""Trusts of keystone: the right of this service to act for a user.

The trustor is the user, the trustee is the service's own user. A token of the
trust is the user's: servers that are created with it belong to the user and to
the project of the request.
"""

from collections.abc import Callable, Collection, Iterator
import contextlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1.plugin import BaseAuthPlugin
from oslo_log import log as logging

from nova_holistic.boot.errors import RightUnavailable, TrustRefused
from nova_holistic.inventory.errors import ServiceFailed

LOG = logging.getLogger(__name__)

PATH = '/OS-TRUST/trusts'
MAX_MESSAGE = 200
"""Characters of a message of keystone that an error contains."""
HIDDEN = 'TRUST_ID'
"""Replaces the ID of a trust in the log."""


@dataclass(frozen=True, slots=True)
class User:
    """
    :ivar token: a valid token of the user, for the project
    :ivar roles: names of the user's roles in the project
    """

    user_id: str
    project_id: str
    token: str
    roles: Collection[str]


class Trusts:
    """Creates and deletes trusts, and connects with them."""

    def __init__(self, keystone: Adapter,
                 auth_of: Callable[[str], BaseAuthPlugin]):
        """
        :param keystone: with the authentication of the service's own user
        :param auth_of: returns the authentication with a trust, by its id
        """
        self._keystone = keystone
        self._auth_of = auth_of

    def create(self, user: User, now: datetime, lifetime: float) -> str:
        """The id of a new trust, made with the token of the user.

        :param now: naive UTC
        :param lifetime: seconds until the trust expires
        :raises TrustRefused: keystone refuses it, for example because the
            token itself is one of an application credential
        :raises ServiceFailed: keystone does not answer, or gives no token to
            the service's own user
        """
        expires = now + timedelta(seconds=lifetime)
        with _own_token(), _translated(PATH):
            answer = self._keystone.post(
                PATH, authenticated=False, raise_exc=False,
                headers={'X-Auth-Token': user.token},
                json={'trust': {
                    'trustor_user_id': user.user_id,
                    'trustee_user_id': self._keystone.get_user_id(),
                    'project_id': user.project_id,
                    'roles': [{'name': name} for name in sorted(user.roles)],
                    'impersonation': True,
                    'expires_at': f'{expires:%Y-%m-%dT%H:%M:%S.%fZ}'}})
            if answer.status_code == 201:
                return answer.json()['trust']['id']
        if answer.status_code >= 500:
            raise ServiceFailed(
                'keystone', PATH, f'HTTP {answer.status_code}', 'POST')
        raise TrustRefused(_message(answer))

    def authentication(self, trust_id: str) -> BaseAuthPlugin:
        """The authentication of the user, by the trust."""
        return self._auth_of(trust_id)

    def delete(self, trust_id: str, auth: BaseAuthPlugin) -> bool:
        """Whether the trust no longer exists. Otherwise it expires later.

        :param auth: of the trustor, for example by the trust itself
        """
        path = f'{PATH}/{trust_id}'
        try:
            with _translated(path):
                answer = self._keystone.delete(
                    path, auth=auth, raise_exc=False)
        except RightUnavailable:
            # An expired trust gives no token; keystone itself removes it.
            return True
        except ServiceFailed as error:
            LOG.warning('A trust is not deleted, and expires later: %s',
                        str(error).replace(trust_id, HIDDEN))
            return False
        if answer.status_code in (204, 404):
            return True
        LOG.warning('A trust is not deleted, and expires later: HTTP %s: %s',
                    answer.status_code,
                    _message(answer).replace(trust_id, HIDDEN))
        return False


@contextlib.contextmanager
def _own_token() -> Iterator[None]:
    """
    :raises ServiceFailed: the service's own user gets no token
    """
    try:
        yield
    except RightUnavailable as error:
        LOG.error('The account in [boot] gets no token: check its password, '
                  'and that it has a role in its project: %s', error)
        raise ServiceFailed('keystone', PATH, str(error), 'POST') from error


@contextlib.contextmanager
def _translated(path: str) -> Iterator[None]:
    """
    :raises RightUnavailable: there is no token
    :raises ServiceFailed: keystone does not answer
    """
    try:
        yield
    except ks_exceptions.HttpError as error:
        if error.http_status >= 500:
            raise ServiceFailed('keystone', path, str(error)) from error
        raise RightUnavailable(f'keystone gives no token: {error}') from error
    except (ks_exceptions.ClientException, ValueError, KeyError,
            TypeError) as error:
        raise ServiceFailed('keystone', path, str(error)) from error


def _message(answer) -> str:
    """The message of keystone about a refused request."""
    try:
        text = answer.json()['error']['message']
    except (ValueError, KeyError, TypeError):
        text = f'HTTP {answer.status_code}'
    return ' '.join(str(text).split())[:MAX_MESSAGE]
