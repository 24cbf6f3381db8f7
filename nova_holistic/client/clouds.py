# SPDX-License-Identifier: Apache-2.0
"""The members of a group: with their clouds, from a parent of a federation,
and with volumes."""

from collections.abc import Sequence
from typing import Any

from nova_holistic.client.client import Client
from nova_holistic.client import errors
from nova_holistic.client.microversions import CREATED_VOLUMES, VOLUMES

CLOUDS = '1.3'
"""The first microversion with the clouds of members."""


def placements_with_clouds(client: Client,
                           group_id: str) -> Sequence[dict[str, Any]]:
    """The placements of a group.

    If the API is a parent of a federation, each of them has the keys
    ``cloud`` and ``pointer``: the cloud of the member, and the scheduler
    hints with which its server is created there.
    """
    try:
        return client.request('GET', f'/groups/{group_id}/placements',
                              since=CLOUDS)['placements']
    except errors.Refused as error:
        if error.status != 406:
            raise
    return client.groups.placements(group_id)


def members(client: Client, group_id: str) -> Sequence[dict[str, Any]]:
    """The placements of a group, and after them its volumes with the keys
    ``pool``, ``volume_id``, ``size``, ``volume_type`` and ``creation``, if the
    API knows them."""
    for since in CREATED_VOLUMES, VOLUMES:
        try:
            found = client.request(
                'GET', f'/groups/{group_id}/placements', since=since)
        except errors.Refused as error:
            if error.status != 406:
                raise
        else:
            return [*found['placements'], *found['volumes']]
    return placements_with_clouds(client, group_id)


def has_children(client: Client) -> bool:
    """Whether the API is a parent of a federation."""
    try:
        client.request('GET', '/children', since=CLOUDS)
    except errors.Refused as error:
        if error.status not in (403, 404, 406):
            raise
        return False
    return True
