# SPDX-License-Identifier: Apache-2.0
"""Authentication with a Keystone, or without one: then, a token is
``USER:PROJECT``."""

from collections.abc import Mapping

from keystoneauth1.plugin import BaseAuthPlugin
from keystonemiddleware import auth_token

from nova_holistic.api.app import AppParts
from nova_holistic.api.context import RequestContext
from nova_holistic.api.middleware import Wsgi

ADMIN = 'admin'
"""The user with the role admin."""


class SentToken(BaseAuthPlugin):
    """Sends a token unchanged."""

    def __init__(self, token):
        super().__init__()
        self._token = token

    def get_token(self, session, **options):
        return self._token


def context_of(environ):
    """Return the context of a request. It has no user and no project if the
    request has no valid token."""
    token = environ.get('HTTP_X_AUTH_TOKEN', '')
    user, colon, project = token.partition(':')
    if not (user and colon and project):
        return RequestContext()
    roles = ['member', 'reader', *(['admin'] if user == ADMIN else [])]
    context = RequestContext(user_id=user, project_id=project, roles=roles)
    context.auth = SentToken(token)
    return context


def parts(keystone: Mapping[str, str] | None, **others) -> AppParts:
    """Return the parts of an API.

    :param keystone: see ``with_tokens``
    :param others: further parts
    """
    return AppParts(**others) if keystone else AppParts(
        context_of=context_of, **others)


def with_tokens(application: Wsgi,
                keystone: Mapping[str, str] | None) -> Wsgi:
    """Return the application behind the check of its tokens.

    :param keystone: URL and password of the user ``admin``, as ``auth_url``
        and ``password``; None: the application itself checks tokens
    """
    if not keystone:
        return application
    return auth_token.AuthProtocol(application, {
        'auth_type': 'password', 'username': 'admin',
        'user_domain_id': 'default', 'system_scope': 'all',
        'www_authenticate_uri': keystone['auth_url'], **keystone})
