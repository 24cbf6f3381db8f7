# SPDX-License-Identifier: Apache-2.0
"""The outcomes of operations."""

from collections.abc import Callable
from collections import Counter
import enum

from keystoneauth1 import exceptions as ks_exceptions

from nova_holistic.client.errors import Refused, TimedOut
from tools.cloud.waiting import WaitTimeout


class Outcome(enum.StrEnum):
    """The outcome of one operation."""
    DONE = 'done'
    REFUSED = 'refused'
    """The service refused the request (4xx)."""
    FAILED = 'failed'
    """The service did not respond, or responded with 5xx."""
    LATE = 'late'
    """The operation began and did not end in time."""
    VOID = 'void'
    """The group or server of the operation does not exist, because an earlier
    operation failed."""


class Void(Exception):
    """The group or server of an operation does not exist."""


def outcome(perform: Callable[[], None], errors: Counter) -> Outcome:
    """The outcome of an operation.

    :param errors: counts refusals and failures by their text
    """
    try:
        perform()
    except Void:
        return Outcome.VOID
    except (WaitTimeout, TimedOut):
        return Outcome.LATE
    except Refused as error:
        errors[f'{error.status} {error}'[:150]] += 1
        return (Outcome.REFUSED if 400 <= error.status < 500
                else Outcome.FAILED)
    except ks_exceptions.HttpError as error:
        errors[f'{error.http_status} {_text(error)}'[:150]] += 1
        return (Outcome.REFUSED if 400 <= error.http_status < 500
                else Outcome.FAILED)
    except ks_exceptions.ClientException as error:
        errors[str(error)[:150]] += 1
        return Outcome.FAILED
    return Outcome.DONE


def _text(error: ks_exceptions.HttpError) -> str:
    """The message of the service. Nova's faults have their own format."""
    try:
        about, = error.response.json().values()
        return about['message']
    except (AttributeError, ValueError, KeyError, TypeError):
        return str(error)
