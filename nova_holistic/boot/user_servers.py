# SPDX-License-Identifier: Apache-2.0
"""Servers in Nova's API, with the rights of a user."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
import requests

from nova_holistic.boot.errors import CreateRefused, RightUnavailable
from nova_holistic.inventory.errors import ServiceFailed

WITH_HINTS = '2.100'
"""Microversion from which on Nova shows the scheduler hints of servers."""
READ = '2.1'
GROUP_HINT, MEMBER_HINT = 'holistic_group', 'holistic_member'
PAGE = 1000
MAX_MESSAGE = 500
"""Characters of a message of Nova that a fault contains."""


@dataclass(frozen=True, slots=True)
class UserServer:
    """
    :ivar status: Nova's: ACTIVE, BUILD, ERROR ...
    :ivar fault: why it is in ERROR
    """

    uuid: str
    status: str
    fault: str = ''


class UserServers:
    """All methods raise RightUnavailable if the service may not act for the
    user, and ServiceFailed if the outcome is not known."""

    def __init__(self, nova: Adapter):
        """:param nova: with the authentication of the user"""
        self._nova = nova

    def create(self, body: Mapping[str, Any], microversion: str) -> str:
        """The UUID of a new server.

        :raises CreateRefused: there is no new server
        """
        answer = self._ask('POST', '/servers', microversion, body)
        if answer.status_code == 202:
            return _read(answer, '/servers')['server']['id']
        if answer.status_code >= 500:
            raise ServiceFailed('nova', '/servers', _message(answer))
        raise CreateRefused(f'HTTP {answer.status_code}: {_message(answer)}')

    def get(self, uuid: str) -> UserServer | None:
        """None if the server does not exist (any longer)."""
        path = f'/servers/{uuid}'
        answer = self._ask('GET', path, READ)
        if answer.status_code == 404:
            return None
        found = _read(answer, path)['server']
        return UserServer(uuid, found['status'], str(
            (found.get('fault') or {}).get('message', '')))

    def delete(self, uuid: str) -> None:
        """Request the deletion; nothing happens if the server is gone."""
        path = f'/servers/{uuid}'
        answer = self._ask('DELETE', path, READ)
        if answer.status_code not in (204, 404, 409):
            raise ServiceFailed('nova', path, _message(answer))

    def pointing_at(self, group_uuid: str) -> Mapping[str, tuple[str, ...]]:
        """UUIDs of servers whose scheduler hints point at a member of the
        group, by the path of the member. Servers in ERROR come last."""
        found: dict[str, list[tuple[bool, str]]] = {}
        for server in self._listed():
            hints = server.get('scheduler_hints') or {}
            if _only(hints.get(GROUP_HINT)) == group_uuid:
                found.setdefault(str(_only(hints.get(MEMBER_HINT))), []
                                 ).append((server['status'] == 'ERROR',
                                           server['id']))
        return {path: tuple(uuid for _, uuid in sorted(each))
                for path, each in found.items()}

    def _listed(self) -> Iterator[Mapping[str, Any]]:
        path, marker = '/servers/detail', ''
        while True:
            address = f'{path}?limit={PAGE}{marker}'
            page = _read(self._ask('GET', address, WITH_HINTS), path)
            yield from page['servers']
            if not page.get('servers_links'):
                return
            marker = f'&marker={page["servers"][-1]["id"]}'

    def _ask(self, method: str, path: str, microversion: str,
             body: Mapping[str, Any] | None = None) -> requests.Response:
        try:
            answer = self._nova.request(
                path, method, json=body, microversion=microversion,
                raise_exc=False)
        except ks_exceptions.HttpError as error:
            # Keystone gives no token: Nova's own refusals raise nothing.
            if error.http_status >= 500:
                raise ServiceFailed('keystone', path, str(error)) from error
            raise RightUnavailable(
                f'keystone gives no token: {error}') from error
        except ks_exceptions.ClientException as error:
            raise ServiceFailed('nova', path, str(error)) from error
        if answer.status_code == 401:
            raise RightUnavailable('Nova does not accept the token')
        return answer


def _read(answer: requests.Response, path: str) -> Mapping[str, Any]:
    try:
        if answer.status_code in (200, 202):
            return answer.json()
    except ValueError as error:
        raise ServiceFailed('nova', path, 'not JSON') from error
    raise ServiceFailed('nova', path, _message(answer))


def _only(values: Any) -> Any:
    return values[0] if isinstance(values, list) and values else values


def _message(answer: requests.Response) -> str:
    """What Nova says about a refused request."""
    try:
        (fault,) = answer.json().values()
        text = str(fault['message'])
    except (ValueError, KeyError, TypeError, AttributeError):
        text = f'HTTP {answer.status_code}'
    return ' '.join(text.split())[:MAX_MESSAGE]
