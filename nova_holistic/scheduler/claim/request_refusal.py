# SPDX-License-Identifier: Apache-2.0
"""Errors by which a create with a pointer is refused."""

from nova_holistic import exceptions
from nova_holistic.holds import errors as holds_errors
from nova_holistic.table import errors as table_errors


class RequestRefused(exceptions.HolisticError):
    """The pointer cannot be used; the message states the reason to the
    user."""


class HostRefused(RequestRefused):
    """This host cannot take the server, but another host may.

    :ivar host: name of the host
    :ivar cause: why it cannot take the server, as a clause without a subject
    :ivar by: the filter or the check that refused it, if the planner cannot
        see the cause in its snapshot; None if it can
    :ivar may_return: whether the host may be usable again soon
    """

    def __init__(self, cause: str, host: str, by: str | None = None,
                 may_return: bool = False):
        # The message names no host: users see it.
        super().__init__(f'its planned host {cause}')
        self.host = host
        self.cause = cause
        self.by = by
        self.may_return = may_return


WRITTEN_FOR_USERS = (RequestRefused, table_errors.ClaimRefused)
"""Types of errors whose messages are shown to users."""

_MESSAGES_FOR_USERS = (
    (table_errors.TableError, 'the placement table does not answer'),
    (holds_errors.NoResponse, 'Placement does not answer'),
    (holds_errors.HoldsError, 'Placement returned an unexpected answer'))
"""Messages for users in place of errors that are written for operators."""


def for_user(error: BaseException | None, request_id: str) -> str:
    """The message of the server's fault. The log contains the error itself."""
    if isinstance(error, WRITTEN_FOR_USERS):
        return str(error)
    for kind, text in _MESSAGES_FOR_USERS:
        if isinstance(error, kind):
            return text
    return (f'its planned place cannot be used; the operator finds the '
            f'details in the log under request {request_id}')
