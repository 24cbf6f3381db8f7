# SPDX-License-Identifier: Apache-2.0
"""How operations ended."""

from collections.abc import Callable
from collections import Counter
import enum

from keystoneauth1 import exceptions as ks_exceptions

from nova_holistic.client.errors import Refused, TimedOut
from tools.cloud.waiting import WaitTimeout


class Outcome(enum.StrEnum):
    DONE = 'done'
    REFUSED = 'refused'
    """The service answered that this cannot be done (4xx)."""
    FAILED = 'failed'
    """The service did not answer, or answered 5xx."""
    LATE = 'late'
    """An operation that has begun did not end while it was waited for."""
    VOID = 'void'
    """What the operation is about does not exist, because an earlier
    operation did not succeed."""


class Void(Exception):
    """What an operation is about does not exist."""


def outcome(perform: Callable[[], None], seen: Counter) -> Outcome:
    """How an operation ends.

    :param seen: refusals and failures are counted there by their text
    """
    try:
        perform()
    except Void:
        return Outcome.VOID
    except (WaitTimeout, TimedOut):
        return Outcome.LATE
    except Refused as error:
        seen[f'{error.status} {error}'[:150]] += 1
        return (Outcome.REFUSED if 400 <= error.status < 500
                else Outcome.FAILED)
    except ks_exceptions.HttpError as error:
        seen[f'{error.http_status} {_text(error)}'[:150]] += 1
        return (Outcome.REFUSED if 400 <= error.http_status < 500
                else Outcome.FAILED)
    except ks_exceptions.ClientException as error:
        seen[str(error)[:150]] += 1
        return Outcome.FAILED
    return Outcome.DONE


def _text(error: ks_exceptions.HttpError) -> str:
    """What the service says; Nova's answers are in a form of its own."""
    try:
        about, = error.response.json().values()
        return about['message']
    except (AttributeError, ValueError, KeyError, TypeError):
        return str(error)
