# SPDX-License-Identifier: Apache-2.0
"""Data that were read for the request that the current thread answers."""

from collections.abc import Callable
import functools
import threading
from typing import Any


class _Request(threading.local):
    """The data of the current request of a thread.

    :ivar found: data that were read, by kind; None outside of a request
    """

    found: dict[str, dict] | None = None


_request = _Request()


def read_once(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a function that answers one request. The data in
    ``of_kind`` are discarded when the function returns."""
    @functools.wraps(answer)
    def wrapper(*args, **kwargs):
        _request.found = {}
        try:
            return answer(*args, **kwargs)
        finally:
            _request.found = None

    return wrapper


def of_kind(kind: str) -> dict | None:
    """The data of one kind that were read for the current request. The caller
    adds to this dictionary.

    :param kind: name of the kind, which is different for each caller
    :returns: None outside of a request
    """
    found = _request.found
    return None if found is None else found.setdefault(kind, {})
