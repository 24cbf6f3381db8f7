# SPDX-License-Identifier: Apache-2.0
"""Servers in Nova's API, with the rights of a user."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib import parse

from keystoneauth1.adapter import Adapter
import requests

from nova_holistic.boot.user_requests import (
    message, must_be_accepted, UserRequests)
from nova_holistic.documents.schemas.server import NOVA_VERSION
from nova_holistic.documents.servers.create_request import group_tag
from nova_holistic.inventory.errors import ServiceFailed

READ = '2.1'
WITH_TAGS = '2.26'
"""Microversion from which on servers can be listed by tag."""
PAGE = 1000


@dataclass(frozen=True, slots=True)
class UserServer:
    """
    :ivar status: Nova's: ACTIVE, BUILD, ERROR ...
    :ivar fault: why it is in ERROR
    """

    uuid: str
    status: str
    fault: str = ''


@dataclass(frozen=True, slots=True)
class TaggedServer:
    """
    :ivar metadata: names the member
    """

    uuid: str
    status: str
    metadata: Mapping[str, str]


class UserServers:
    """All methods raise RightUnavailable if the service may not act for the
    user, and ServiceFailed if the outcome is not known."""

    def __init__(self, nova: Adapter):
        """:param nova: with the authentication of the user"""
        self._nova = UserRequests('nova', nova)

    def create(self, body: Mapping[str, Any]) -> str:
        """The UUID of a new server.

        :raises CreateRefused: there is no new server
        :raises TooManyRequests: there is no new server; call again later
        """
        answer = self._nova.send('POST', '/servers', NOVA_VERSION, body)
        must_be_accepted('nova', '/servers', answer)
        return _read(answer, '/servers')['server']['id']

    def get(self, uuid: str) -> UserServer | None:
        """The server; None if it does not exist."""
        path = f'/servers/{uuid}'
        answer = self._nova.send('GET', path, READ)
        if answer.status_code == 404:
            return None
        server = _read(answer, path)['server']
        return UserServer(uuid, server['status'], str(
            (server.get('fault') or {}).get('message', '')))

    def delete(self, uuid: str) -> None:
        """Request the deletion of the server, which may already be deleted."""
        path = f'/servers/{uuid}'
        answer = self._nova.send('DELETE', path, READ)
        if answer.status_code not in (204, 404, 409):
            raise ServiceFailed('nova', path, message(answer), 'DELETE')

    def of_group(self, group_uuid: str) -> Sequence[TaggedServer]:
        """Servers that were created as members of a group. Servers in ERROR
        come last."""
        return sorted(
            (TaggedServer(listed['id'], listed['status'], listed['metadata'])
             for listed in self._listed('servers', '/servers/detail', {
                 'tags': group_tag(group_uuid)})),
            key=lambda server: (server.status == 'ERROR', server.uuid))

    def flavor_id(self, name: str) -> str | None:
        """The ID of a flavor, by its name or ID; None if the user has no such
        flavor."""
        path = f'/flavors/{parse.quote(name, safe="")}'
        answer = self._nova.send('GET', path, READ)
        if answer.status_code == 200:
            return _read(answer, path)['flavor']['id']
        return next((flavor['id'] for flavor in self._listed(
            'flavors', '/flavors', {}) if flavor['name'] == name), None)

    def _listed(self, key: str, path: str, query: Mapping[str, str]
                ) -> Iterator[Mapping[str, Any]]:
        marker: dict[str, str] = {}
        while True:
            query_string = parse.urlencode({**query, 'limit': str(PAGE),
                                            **marker})
            page = _read(self._nova.send(
                'GET', f'{path}?{query_string}', WITH_TAGS), path)
            yield from page[key]
            if not page.get(f'{key}_links'):
                return
            marker = {'marker': page[key][-1]['id']}


def _read(answer: requests.Response, path: str) -> Mapping[str, Any]:
    try:
        if answer.status_code in (200, 202):
            return answer.json()
    except ValueError as error:
        raise ServiceFailed('nova', path, 'not JSON') from error
    raise ServiceFailed('nova', path, message(answer))
