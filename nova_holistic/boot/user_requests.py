# SPDX-License-Identifier: Apache-2.0
"""Requests to an OpenStack service with the rights of a user."""

from collections.abc import Mapping
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
import requests

from nova_holistic.boot.errors import RightUnavailable
from nova_holistic.inventory.errors import ServiceFailed

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
        :raises ServiceFailed: the service or keystone does not answer, and the
            outcome is not known
        """
        try:
            answer = self._adapter.request(
                path, method, json=body, microversion=microversion,
                raise_exc=False)
        except ks_exceptions.HttpError as error:
            # Keystone gives no token: the service's own refusals raise
            # nothing.
            if error.http_status >= 500:
                raise ServiceFailed('keystone', path, str(error)) from error
            raise RightUnavailable(
                f'keystone gives no token: {error}') from error
        except ks_exceptions.ClientException as error:
            raise ServiceFailed(
                self._service, path, str(error), method) from error
        if answer.status_code == 401:
            raise RightUnavailable(
                f'{self._service} does not accept the token')
        return answer


def message(answer: requests.Response) -> str:
    """The message of a service about a refused request."""
    try:
        (fault,) = answer.json().values()
        text = str(fault['message'])
    except (ValueError, KeyError, TypeError, AttributeError):
        text = f'HTTP {answer.status_code}'
    return ' '.join(text.split())[:MAX_MESSAGE]
