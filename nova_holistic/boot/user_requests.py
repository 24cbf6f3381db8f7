# SPDX-License-Identifier: Apache-2.0
"""Requests to an OpenStack service with the rights of a user."""

from collections.abc import Iterator, Mapping
import contextlib
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
import requests

from nova_holistic.boot.errors import (
    CreateRefused, RightUnavailable, TooManyRequests)
from nova_holistic.inventory.errors import ServiceFailed

KEYSTONE = 'keystone'
"""Name of the service whose failures precede a request."""
TOO_MANY_REQUESTS = 429
"""HTTP status of a service, or of a proxy in front of it, that limits the rate
of requests."""
MAX_MESSAGE = 500
"""Maximum number of characters of a message of a service in a fault."""


class UserRequests:
    """Sends requests to one service."""

    def __init__(self, service: str, adapter: Adapter):
        """
        :param service: name of the service, for errors
        :param adapter: with the authentication of the user
        """
        self._service = service
        self._adapter = adapter

    def send(self, method: str, path: str, microversion: str,
             body: Mapping[str, Any] | None = None) -> requests.Response:
        """The response, with any status except 401.

        :raises RightUnavailable: the service may not act for the user
        :raises ServiceFailed: the service does not answer, and the outcome is
            not known; or keystone does not answer (``service`` is
            ``KEYSTONE``), and the service has not carried out the request
        """
        with _token_errors(path, KEYSTONE):
            self._adapter.get_token()
        with _token_errors(path, self._service, method):
            answer = self._adapter.request(
                path, method, json=body, microversion=microversion,
                raise_exc=False)
        if answer.status_code == 401:
            raise RightUnavailable(
                f'{self._service} does not accept the token')
        return answer


@contextlib.contextmanager
def _token_errors(path: str, service: str,
                  method: str = 'GET') -> Iterator[None]:
    """
    :param service: the service that does not answer if there is no connection
    """
    try:
        yield
    except ks_exceptions.HttpError as error:
        # Keystone gives no token: the service's own refusals raise nothing.
        if error.http_status >= 500:
            raise ServiceFailed(KEYSTONE, path, str(error)) from error
        raise RightUnavailable(f'keystone gives no token: {error}') from error
    except (ks_exceptions.ClientException, OSError) as error:
        raise ServiceFailed(service, path, str(error), method) from error


def must_be_accepted(service: str, path: str,
                     answer: requests.Response) -> None:
    """
    :param answer: the answer to a request to create something
    :raises CreateRefused: the service has created nothing, and a repeated
        request would be refused, too
    :raises TooManyRequests: the service has created nothing yet
    :raises ServiceFailed: it is not known whether the service has created it
    """
    status = answer.status_code
    if status == 202:
        return
    if status == TOO_MANY_REQUESTS:
        raise TooManyRequests(service, path, message(answer), 'POST')
    if status >= 500:
        raise ServiceFailed(service, path, message(answer), 'POST')
    raise CreateRefused(f'HTTP {status}: {message(answer)}')


def message(answer: requests.Response) -> str:
    """The message of a service about a refused request."""
    try:
        (fault,) = answer.json().values()
        text = str(fault['message'])
    except (ValueError, KeyError, TypeError, AttributeError):
        text = f'HTTP {answer.status_code}'
    return ' '.join(text.split())[:MAX_MESSAGE]
