# SPDX-License-Identifier: Apache-2.0
"""The user of a request to a parent."""

from dataclasses import dataclass, field

from keystoneauth1.plugin import BaseAuthPlugin


@dataclass(frozen=True, slots=True)
class User:
    """A user in the project of a request.

    :ivar token: the authentication of the request, for children that accept
        the tokens of the parent's keystone; None: the request has no token
    :ivar parents: parents that the request has passed, outermost first
    """

    user_id: str
    project_id: str
    token: BaseAuthPlugin | None = field(default=None, repr=False)
    parents: tuple[str, ...] = ()
