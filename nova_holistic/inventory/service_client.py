# SPDX-License-Identifier: Apache-2.0
"""Requests to one OpenStack service; every failure is a ServiceFailed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from keystoneauth1.adapter import Adapter
from keystoneauth1.exceptions import ClientException

from nova_holistic.inventory.errors import ErrorAnswer, ServiceFailed

PAGE = 1000
"""Number of items per request; Nova's own default maximum."""

_UNREACHABLE = (502, 503, 504)
"""Statuses of a proxy whose service does not answer."""


def failure_type(status: int) -> type[ServiceFailed]:
    """The type of the error for an unexpected status of a response."""
    return ServiceFailed if status in _UNREACHABLE else ErrorAnswer


class ServiceClient:
    """Client of one service, which sends its requests with an Adapter.

    :ivar name: name of the service, for errors
    """

    def __init__(self, name: str, adapter: Adapter):
        self.name = name
        self._adapter = adapter

    def get(self, path: str, microversion: str | None,
            missing_ok: bool = False) -> Any:
        """The JSON document at a path; None for status 404 if ``missing_ok``.

        :raises ErrorAnswer: the service refuses
        :raises ServiceFailed: the service does not answer, or does not answer
            with JSON
        """
        try:
            answer = self._adapter.get(
                path, microversion=microversion, raise_exc=False)
        except (ClientException, OSError) as error:
            raise ServiceFailed(self.name, path, _one_line(error)) from error
        if missing_ok and answer.status_code == 404:
            return None
        if answer.status_code != 200:
            raise failure_type(answer.status_code)(
                self.name, path,
                f'HTTP {answer.status_code}: {_one_line(answer.text)}')
        try:
            return answer.json()
        except ValueError as error:
            raise ServiceFailed(self.name, path, 'not JSON') from error

    def post(self, path: str, body: Mapping[str, Any],
             microversion: str) -> None:
        """Request an action whose response has no body.

        :raises ServiceFailed: the service does not answer, or refuses
        """
        try:
            answer = self._adapter.post(
                path, json=body, microversion=microversion, raise_exc=False)
        except (ClientException, OSError) as error:
            raise ServiceFailed(self.name, path, _one_line(error),
                                'POST') from error
        if answer.status_code >= 300:
            raise ServiceFailed(
                self.name, path,
                f'HTTP {answer.status_code}: {_one_line(answer.text)}', 'POST')

    def pages(self, path: str, key: str, microversion: str,
              linked: bool = False, **query: str,
              ) -> Iterator[Mapping[str, Any]]:
        """All items of a paged list, in the order of the service.

        If pages are not linked, only an empty page is the last page. Nova
        filters hypervisors after it has read a page, considers the shorter
        page the last one, and omits the link to the next page.

        :param key: key of the list in a page
        :param linked: whether every page but the last has a link to the next
            page
        :param query: ``marker`` begins the list after an item, and ``limit``
            is the number of items of a page
        :raises ServiceFailed: the service does not answer, or gives an
            invalid answer
        """
        marker: dict[str, str] = {}
        while True:
            page_path = f'{path}?' + urlencode(
                {'limit': PAGE, **query, **marker})
            with self.reading(page_path):
                page = self.get(page_path, microversion)
                items = page[key]
                if not items:
                    return
                last = linked and not page.get(f'{key}_links')
                following = {'marker': items[-1]['id']}
            if following == marker:
                raise ServiceFailed(self.name, page_path,
                                    'the same page again')
            marker = following
            yield from items
            if last:
                return

    @contextmanager
    def reading(self, path: str) -> Iterator[None]:
        """Context in which a response is parsed.

        :raises ServiceFailed: the response has an unexpected key or type
        """
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError,
                IndexError) as error:
            raise ServiceFailed(
                self.name, path,
                f'unexpected answer ({type(error).__name__}: '
                f'{_one_line(error)})') from error


def _one_line(text: object) -> str:
    return ' '.join(str(text).split())[:300]
