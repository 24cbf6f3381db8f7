# SPDX-License-Identifier: Apache-2.0
"""The token of a request, sent to a child that accepts it."""

from collections.abc import Mapping
from typing import Any

from keystoneauth1.access.access import AccessInfo
from keystoneauth1.identity import base

ENVIRON_KEY = 'keystone.token_auth'
"""The key under which keystonemiddleware stores the validated token of a
request."""


class ForwardedToken(base.BaseIdentityPlugin):
    """The user's token with its catalog.

    The plug-in of keystonemiddleware also sends the token of the service's
    own user, which has other rights than the user. Children must not get it.
    """

    def __init__(self, access: AccessInfo):
        super().__init__(reauthenticate=False)
        self._access = access

    def get_auth_ref(self, session: Any, **options: Any) -> AccessInfo:
        return self._access


def of_request(environ: Mapping[str, Any]) -> ForwardedToken | None:
    """The token of a request; None if keystonemiddleware validated none."""
    validated = environ.get(ENVIRON_KEY)
    if validated is None or not validated.has_user_token:
        return None
    return ForwardedToken(validated.user)
