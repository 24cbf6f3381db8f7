# SPDX-License-Identifier: Apache-2.0
"""The user of a request to a parent."""

from dataclasses import dataclass, field

from keystoneauth1.plugin import BaseAuthPlugin


@dataclass(frozen=True, slots=True)
class User:
    """
    :ivar token: the authentication of the request, for children that accept
        the tokens of the parent's keystone; None if the request has none
    :ivar parents: through which the request has come, outermost first
    """

    user_id: str
    project_id: str
    token: BaseAuthPlugin | None = field(default=None, repr=False)
    parents: tuple[str, ...] = ()
