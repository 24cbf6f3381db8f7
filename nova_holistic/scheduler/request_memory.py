# SPDX-License-Identifier: Apache-2.0
"""What was read for the request that a thread answers."""

from collections.abc import Callable
import functools
import threading
from typing import Any


class _Request(threading.local):
    """
    :ivar found: what was read, by kind; None outside of a request
    """

    found: dict[str, dict] | None = None


_request = _Request()


def read_once(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a decorated function answer one request: what callers keep in
    ``of_kind`` is forgotten when it returns."""
    @functools.wraps(answer)
    def wrapper(*args, **kwargs):
        _request.found = {}
        try:
            return answer(*args, **kwargs)
        finally:
            _request.found = None

    return wrapper


def of_kind(kind: str) -> dict | None:
    """What was read so far, which the caller extends; None outside of a
    request.

    :param kind: a different one for each caller
    """
    found = _request.found
    return None if found is None else found.setdefault(kind, {})
