# SPDX-License-Identifier: Apache-2.0
"""Authentication without Keystone: a token is ``USER:PROJECT``."""

from keystoneauth1.plugin import BaseAuthPlugin

from nova_holistic.api.context import RequestContext

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
