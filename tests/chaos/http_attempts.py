# SPDX-License-Identifier: Apache-2.0
"""Requests to services that may not answer yet."""

from collections.abc import Callable
from typing import TypeVar

from keystoneauth1 import exceptions as ks_exceptions
import pymysql

Answer = TypeVar('Answer')


def answered(call: Callable[[], Answer]) -> Callable[[], Answer | None]:
    """The call, which gives None while a service does not answer."""
    def answer() -> Answer | None:
        try:
            return call()
        except (ks_exceptions.ClientException, pymysql.Error):
            return None
    return answer


def attempt(call: Callable[[], object]) -> None:
    """Make a request that may be refused, because Nova is at work on the
    server or has deleted it."""
    try:
        call()
    except ks_exceptions.ClientException:
        pass
