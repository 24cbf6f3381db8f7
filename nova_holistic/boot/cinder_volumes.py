# SPDX-License-Identifier: Apache-2.0
"""Volumes in Cinder's API, with the rights of an administrator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import hashlib
import json
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions

from nova_holistic.boot.user_requests import message
from nova_holistic.boot.user_volumes import ATTEMPT, VERSION
from nova_holistic.documents.servers.server import POINTER_METADATA
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.service_client import (
    failure_type, ServiceClient)

FAULT = 'holistic_fault'
"""Property of a volume with the reason why Cinder's scheduler refused it."""
ERROR = 'error'
DELETING, NOT_DELETED = 'deleting', 'error_deleting'
UNUSED = ('available', ERROR)
"""Statuses of a volume that Cinder deletes on request."""
BUILDING = ('creating', 'downloading')
"""Statuses of a volume that is not created yet."""


@dataclass(frozen=True, slots=True)
class CinderVolume:
    """
    :ivar project_id: project that owns it
    :ivar last_change: text that differs after each change: Cinder's time of
        the last change, and a digest of the properties that others have set,
        if there are any. Cinder does not date changes of properties.
    :ivar fault: why Cinder's scheduler refused it, or empty
    """

    uuid: str
    project_id: str
    status: str
    last_change: str | None
    fault: str = ''


class CinderVolumes:
    """The volumes of all projects. All methods raise ServiceFailed if Cinder
    does not answer, and ErrorAnswer if it refuses the request."""

    def __init__(self, cinder: Adapter):
        """:param cinder: with the authentication of an administrator"""
        self._adapter = cinder
        self._client = ServiceClient('cinder', cinder)

    def get(self, uuid: str) -> CinderVolume | None:
        """The volume; None if it does not exist."""
        path = f'/volumes/{uuid}'
        found = self._client.get(path, VERSION, missing_ok=True)
        if found is None:
            return None
        with self._client.reading(path):
            return _volume(found['volume'])

    def of_attempt(self, attempt: str,
                   project_id: str) -> Sequence[CinderVolume]:
        """The volumes of a project that were created by an attempt."""
        path = '/volumes/detail'
        with self._client.reading(path):
            return [_volume(item) for item in self._client.pages(
                path, 'volumes', VERSION, all_tenants='1',
                metadata=repr({ATTEMPT: attempt}))
                if item['metadata'].get(ATTEMPT) == attempt
                and _volume(item).project_id == project_id]

    def zones(self) -> Mapping[str, str]:
        """The availability zones of the volume services, by host and by
        cluster."""
        path = '/os-services?binary=cinder-volume'
        with self._client.reading(path):
            return {name: item['zone'] for item
                    in self._client.get(path, VERSION)['services']
                    for name in (item['host'], item.get('cluster')) if name}

    def delete(self, uuid: str) -> bool:
        """Request the deletion of a volume, which may already be deleted.

        :returns: False if Cinder refuses this, because the volume is in use
        """
        path = f'/volumes/{uuid}'
        try:
            answer = self._adapter.delete(
                path, microversion=VERSION, raise_exc=False)
        except (ks_exceptions.ClientException, OSError) as error:
            raise ServiceFailed('cinder', path, str(error),
                                'DELETE') from error
        if answer.status_code not in (202, 204, 400, 404):
            raise failure_type(answer.status_code)(
                'cinder', path, message(answer), 'DELETE')
        return answer.status_code != 400


def _volume(item: Mapping[str, Any]) -> CinderVolume:
    return CinderVolume(
        item['id'], item['os-vol-tenant-attr:tenant_id'], item['status'],
        _last_change(item), item['metadata'].get(FAULT, ''))


def _last_change(item: Mapping[str, Any]) -> str | None:
    others = {name: value for name, value in item['metadata'].items()
              if name not in (*POINTER_METADATA, ATTEMPT, FAULT)}
    if not others:
        return item['updated_at']
    # The table stores 64 characters.
    digest = hashlib.sha256(json.dumps(
        others, sort_keys=True).encode()).hexdigest()[:32]
    return f'{item["updated_at"]} {digest}'
