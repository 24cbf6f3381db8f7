# SPDX-License-Identifier: Apache-2.0
"""Requests to services that may be unavailable."""

from collections.abc import Callable
from typing import TypeVar

from keystoneauth1 import exceptions as ks_exceptions
import pymysql

Answer = TypeVar('Answer')


def answered(call: Callable[[], Answer]) -> Callable[[], Answer | None]:
    """A function that returns the result of the call, or None while a service
    is unavailable."""
    def answer() -> Answer | None:
        try:
            return call()
        except (ks_exceptions.ClientException, pymysql.Error):
            return None
    return answer


def attempt(call: Callable[[], object]) -> None:
    """Send a request that Nova may refuse, because it works on the server or
    has deleted it."""
    try:
        call()
    except ks_exceptions.ClientException:
        pass
