# SPDX-License-Identifier: Apache-2.0
"""Reasons for errors, with texts for users and for administrators.

Users get the text of an error only if ``WRITTEN_FOR_USERS`` lists its class.
Other texts may name hosts, services or files. They are shown to administrators
and written to the log. Users get a general sentence with the ID of the
request, by which the operator finds the text in the log.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from oslo_context import context as oslo_context
from oslo_log import log as logging

from nova_holistic.engine import errors
from nova_holistic import exceptions
from nova_holistic.model.messages.marked_text import MarkedText
from nova_holistic.model.plan import Reason

LOG = logging.getLogger(__name__)

WRITTEN_FOR_USERS = (exceptions.InvalidDocument, errors.UnreadableReference)
"""Classes of errors whose messages users may read. Their subclasses are
excluded, because the message of a subclass may name a file of the operator."""


def of_error(error: BaseException, message: str | None = None) -> Reason:
    """The reason for an error.

    :param message: message for administrators, instead of the text of the
        error
    """
    if type(error) in WRITTEN_FOR_USERS:
        text = error.message
        return Reason.of(
            error.place,
            text if isinstance(text, MarkedText) else MarkedText(text))
    LOG.error('Users get a general message instead of: %s',
              message or error,
              exc_info=None if isinstance(error, exceptions.HolisticError)
              else error)
    return Reason('', message or str(error), public=_general())


def of_errors(error: BaseException) -> list[Reason]:
    """The reasons for an error: one for each mistake of a document."""
    mistakes = (error.mistakes if isinstance(
        error, exceptions.InvalidDocument) else (error,))
    return [of_error(mistake) for mistake in mistakes]


def rows(found: Sequence[Reason]) -> list[Mapping[str, Any]]:
    """The reasons in the form of the placement table."""
    return [reason.to_row() for reason in found]


def of_engine(message: str) -> Reason:
    """A reason with a text of the engine, which users may read.

    :param message: text without names of hosts and services
    """
    return Reason.of('', message if isinstance(message, MarkedText)
                     else MarkedText(message))


def with_detail(message: str, detail: object) -> Reason:
    """A reason with a detail that only administrators read.

    :param message: text for users, without names
    :param detail: text that follows it for administrators
    """
    return Reason('', f'{message}; last attempt: {detail}', public=message)


def of_repeated(work: str, error: BaseException) -> Mapping[str, Any]:
    """The reason for work that has failed and is repeated, in the form of the
    placement table.

    :param work: name of the work, without names of hosts and services
    """
    return with_detail(f'{work} has failed and is repeated',
                       error or repr(error)).to_row()


def _general() -> str:
    context = oslo_context.get_current()
    where = f' under request {context.request_id}' if context else ''
    return (f'the request could not be carried out; the operator finds the '
            f'details in the log{where}')
