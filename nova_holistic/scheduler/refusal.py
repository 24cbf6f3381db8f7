# SPDX-License-Identifier: Apache-2.0
"""The answer no to a create that has a pointer."""

from nova_holistic import exceptions
from nova_holistic.holds import errors as holds_errors
from nova_holistic.table import errors as table_errors


class Refused(exceptions.HolisticError):
    """The pointer cannot be honoured; the message says why, to the user."""


WRITTEN_FOR_USERS = (Refused, table_errors.ClaimRefused)
"""Kinds of errors whose texts users read."""

_INSTEAD = (
    (table_errors.TableError, 'the placement table does not answer'),
    (holds_errors.HoldsError, 'Placement does not answer as it should'))
"""What users read of kinds whose texts are written for operators."""


def for_user(error: BaseException | None, request_id: str) -> str:
    """What the fault of the server says; the log has the error itself."""
    if isinstance(error, WRITTEN_FOR_USERS):
        return str(error)
    for kind, text in _INSTEAD:
        if isinstance(error, kind):
            return text
    return (f'its planned place cannot be used; the operator finds the '
            f'details in the log under request {request_id}')
