# SPDX-License-Identifier: Apache-2.0
"""Servers and server groups of Nova, by name or ID."""

from collections.abc import Iterator, Sequence
import contextlib
import re
from typing import Any
from uuid import UUID

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
from osc_lib import exceptions

from nova_holistic.client import errors
from nova_holistic.client.osc.command import BadInput
from nova_holistic.client import server_group


class NovaLookup:
    """Finds servers and server groups with the rights of the user."""

    def __init__(self, manager: Any):
        self._adapter = Adapter(
            manager.session, service_type='compute',
            interface=manager.interface, region_name=manager.region_name)

    def server(self, name_or_id: str) -> dict[str, Any]:
        """
        :raises BadInput: there is no such server, or more than one
        :raises CommandError: Nova does not answer
        """
        return self._by_name_or_id(
            'server', name_or_id, '/servers', server_group.SERVERS_VERSION)

    def server_group(self, name_or_id: str) -> dict[str, Any]:
        """
        :raises BadInput: there is no such server group, or more than one
        :raises CommandError: Nova does not answer
        """
        return self._by_name_or_id(
            'server_group', name_or_id, '/os-server-groups',
            server_group.GROUPS_VERSION)

    def server_group_id(self, name: str) -> str:
        """
        :raises BadInput: no server group has the name, or more than one
        :raises CommandError: Nova does not answer
        """
        with _errors_reported('server group'):
            return _only('server group', name, self._server_groups(name))

    def _by_name_or_id(self, kind: str, name_or_id: str, path: str,
                       version: str) -> dict[str, Any]:
        resource = kind.replace('_', ' ')
        with _errors_reported(resource):
            if _is_uuid(name_or_id):
                answer = self._adapter.get(f'{path}/{name_or_id}',
                                           microversion=version,
                                           raise_exc=False)
                if answer.status_code == 200:
                    return errors.body_of(answer)[kind]
            ids = (self._servers(name_or_id) if kind == 'server'
                   else self._server_groups(name_or_id))
            uuid = _only(resource, name_or_id, ids)
            return errors.body_of(self._adapter.get(
                f'{path}/{uuid}', microversion=version))[kind]

    def _servers(self, name: str) -> Sequence[str]:
        """The UUIDs of the servers with this name."""
        query = {'name': f'^{re.escape(name)}$'}
        found = []
        while True:
            page = errors.body_of(self._adapter.get('/servers', params=query))
            # Some databases do not distinguish upper case from lower case.
            found += _named(name, page['servers'])
            if not page.get('servers_links'):
                return found
            query['marker'] = page['servers'][-1]['id']

    def _server_groups(self, name: str) -> Sequence[str]:
        """The UUIDs of the server groups with this name."""
        return [uuid for page in self._pages_of_server_groups()
                for uuid in _named(name, page)]

    def _pages_of_server_groups(self) -> Iterator[list[dict[str, Any]]]:
        """Nova limits the length of a page, and does not tell whether more
        server groups exist."""
        offset = 0
        while True:
            page = errors.body_of(self._adapter.get(
                '/os-server-groups', params={'offset': offset}
            ))['server_groups']
            if not page:
                return
            yield page
            offset += len(page)


@contextlib.contextmanager
def _errors_reported(resource: str) -> Iterator[None]:
    """:raises CommandError: Nova does not answer, or its answer is not usable
    """
    try:
        yield
    except (ks_exceptions.ClientException, errors.Refused) as error:
        raise exceptions.CommandError(
            f'the {resource} cannot be read: {error}') from error


def _named(name: str, items: Sequence[dict[str, Any]]) -> list[str]:
    return [item['id'] for item in items if item['name'] == name]


def _only(resource: str, name: str, ids: Sequence[str]) -> str:
    """:raises BadInput: the number of IDs is not 1"""
    if not ids:
        raise BadInput(f'there is no {resource} {name}')
    if len(ids) > 1:
        raise BadInput(
            f'more than one {resource} is named {name!r}: use an ID of '
            + ', '.join(ids))
    return ids[0]


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
