# SPDX-License-Identifier: Apache-2.0
"""Volumes that are created in Cinder with the rights of a user."""

from collections.abc import Mapping
from typing import Any

from keystoneauth1.adapter import Adapter

from nova_holistic.boot.user_requests import must_be_accepted, UserRequests
from nova_holistic.documents.groups.volumes import IMAGE
from nova_holistic.documents.servers.create_request import (
    member_description, pointer_hints, pointer_metadata)
from nova_holistic.documents.servers.value_formats import printable_name
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.table.records import GroupRecord

PATH = '/volumes'
VERSION = '3.0'
"""Version of Cinder's API."""
ATTEMPT = 'holistic_attempt'
"""Property of a volume with the UUID of the attempt to create it. An engine
that did not receive the response finds the volume by it."""

_HINTS = 'OS-SCH-HNT:scheduler_hints'
_LONGEST = 255


class UserVolumes:
    """Creates volumes for one user. Threads may share an instance."""

    def __init__(self, cinder: Adapter):
        """:param cinder: with the authentication of the user"""
        self._cinder = UserRequests('cinder', cinder)

    def create(self, body: Mapping[str, Any]) -> str:
        """The UUID of a new volume.

        :raises CreateRefused: there is no new volume
        :raises RightUnavailable: the service may not act for the user
        :raises TooManyRequests: there is no new volume; call again later
        :raises ServiceFailed: it is not known whether there is a new volume
        """
        answer = self._cinder.send('POST', PATH, VERSION, body)
        must_be_accepted('cinder', PATH, answer)
        try:
            return answer.json()['volume']['id']
        except (ValueError, KeyError, TypeError) as error:
            raise ServiceFailed(
                'cinder', PATH, 'an unexpected answer', 'POST') from error


def create_body(group: GroupRecord, path: str, attempt: str,
                zone: str | None) -> Mapping[str, Any]:
    """The body of the create request of a volume.

    :param path: path of a volume of the group
    :param attempt: UUID of the attempt
    :param zone: availability zone of its pool, if it is known. Without a zone,
        the request is for the default zone of Cinder.
    """
    member = member_description(group.document, path) or {}
    volume = {
        'name': printable_name(
            '-'.join([group.name, *path.split('/')]))[:_LONGEST],
        'size': member['size'],
        'metadata': {**pointer_metadata(group.uuid, path), ATTEMPT: attempt}}
    if 'volume_type' in member:
        volume['volume_type'] = member['volume_type']
    if zone:
        volume['availability_zone'] = zone
    if IMAGE in member:
        volume['imageRef'] = member[IMAGE]
    return {'volume': volume,
            _HINTS: pointer_hints(group.uuid, path)}
