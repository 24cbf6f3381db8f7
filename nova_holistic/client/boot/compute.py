# SPDX-License-Identifier: Apache-2.0
"""The servers of one user, over Nova's API."""

from collections.abc import Mapping
import functools
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
from keystoneauth1.session import Session

from nova_holistic.client import errors
from nova_holistic.documents.schemas.server import NOVA_VERSION
from nova_holistic.documents.servers.create_request import group_tag

_REPEATED = {'connect_retries': 3, 'status_code_retries': 3,
             'retriable_status_codes': [429, 502, 503, 504]}
"""Options of requests that do not create anything."""

Server = Mapping[str, Any]


class Compute:
    """Threads may share an instance. Every method raises Refused if Nova
    refuses the request or is unavailable, or if its response is not JSON."""

    def __init__(self, session: Session, **options: Any):
        """
        :param options: options of a keystoneauth Adapter
        """
        options.setdefault('service_type', 'compute')
        self._adapter = Adapter(session, default_microversion=NOVA_VERSION,
                                client_name='nova-holistic', **options)
        self.flavor_id = functools.cache(self._flavor_id)

    def create(self, body: Mapping[str, Any]) -> str:
        """Request a server, and return its UUID.

        The request is sent once: after an error, Nova may have accepted it.
        """
        return self._request('POST', '/servers', json=body)['server']['id']

    def server(self, uuid: str) -> Server | None:
        """The server; None if it does not exist."""
        try:
            return self._request('GET', f'/servers/{uuid}',
                                 **_REPEATED)['server']
        except errors.Refused as error:
            if error.status != 404:
                raise
            return None

    def of_group(self, group_uuid: str) -> list[Server]:
        """The servers that were created for members of the group."""
        query, servers = {'tags': group_tag(group_uuid)}, []
        while True:
            page = self._request('GET', '/servers/detail', params=query,
                                 **_REPEATED)
            servers += page['servers']
            if not page.get('servers_links'):
                return servers
            query['marker'] = page['servers'][-1]['id']

    def delete(self, uuid: str) -> None:
        """Request the deletion of a server, which may already be deleted."""
        try:
            self._request('DELETE', f'/servers/{uuid}', **_REPEATED)
        except errors.Refused as error:
            if error.status not in (404, 409):
                raise
            # 409: Nova deletes or moves the server now.

    def _flavor_id(self, name_or_id: str) -> str:
        """The ID of a flavor.

        :raises LookupError: there is no such flavor
        """
        query: dict[str, str] = {}
        ids = set()
        while True:
            page = self._request('GET', '/flavors', params=query, **_REPEATED)
            for flavor in page['flavors']:
                if flavor['name'] == name_or_id:
                    return flavor['id']
                ids.add(flavor['id'])
            if not page.get('flavors_links'):
                break
            query['marker'] = page['flavors'][-1]['id']
        if name_or_id not in ids:
            raise LookupError(f'there is no flavor {name_or_id}')
        return name_or_id

    def _request(self, method: str, path: str, **options: Any) -> Any:
        try:
            response = self._adapter.request(path, method, **options)
        except ks_exceptions.HttpError as error:
            raise _refused(error) from error
        except ks_exceptions.ClientException as error:
            raise errors.unanswered(error) from error
        return errors.body_of(response) if response.content else None


def _refused(error: ks_exceptions.HttpError) -> errors.Refused:
    """The message of Nova, if the response contains one."""
    try:
        (fault,) = error.response.json().values()
        message = fault['message']
    except (AttributeError, ValueError, KeyError, TypeError):
        return errors.refused(error)
    return errors.Refused(error.http_status, '', message, error.request_id,
                          errors.retry_after(error))
