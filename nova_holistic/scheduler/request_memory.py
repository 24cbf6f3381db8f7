# SPDX-License-Identifier: Apache-2.0
"""Data that were read for the request that the current thread answers."""

from collections.abc import Callable
import functools
import threading
from typing import Any

EXCLUSIVE_STATE = 'exclusive state'
"""Kind of the state of all exclusive groups, which is read together with the
group of a pointer. Only checks of planned hosts use it. Their members were at
these places before, so a group that becomes exclusive takes them into account.
All other checks read the state again."""


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


def put(kind: str, value: object) -> None:
    """Keep a value of the current request until a call of ``take``."""
    found = of_kind(kind)
    if found is not None:
        found[kind] = value


def get(kind: str) -> Any:
    """The value that ``put`` has kept.

    :returns: None if no value is kept
    """
    found = of_kind(kind)
    return None if found is None else found.get(kind)


def take(kind: str) -> Any:
    """The value that ``put`` has kept. It is then no longer kept.

    :returns: None if no value is kept
    """
    found = of_kind(kind)
    return None if found is None else found.pop(kind, None)
