# SPDX-License-Identifier: Apache-2.0
"""Operations on servers, requested from Nova as an administrator.

The response to each request states only that Nova has begun. Every method
raises ServiceFailed if Nova refuses, or does not respond.
"""

from collections.abc import Mapping
from typing import Any

from nova_holistic.inventory.service_client import ServiceClient

TO_A_HOST = '2.56'
"""From this microversion on, a cold migration names its destination."""

WITHOUT_FORCE = '2.68'
"""From this microversion on, no live migration bypasses the scheduler."""


class ServerActions:
    """Requests operations on servers. Nova's scheduler checks the destination
    of each operation."""

    def __init__(self, compute: Any):
        """:param compute: keystoneauth Adapter with an administrator's rights
        """
        self._nova = ServiceClient('nova', compute)

    def live_migrate(self, instance_uuid: str, host: str) -> None:
        """Live-migrate a server. No confirmation is necessary."""
        self._act(instance_uuid, WITHOUT_FORCE, {'os-migrateLive': {
            'host': host, 'block_migration': 'auto'}})

    def migrate(self, instance_uuid: str, host: str) -> None:
        """Cold-migrate a server. The migration must be confirmed."""
        self._act(instance_uuid, TO_A_HOST, {'migrate': {'host': host}})

    def resize(self, instance_uuid: str, flavor: str) -> None:
        """Resize a server. The resize must be confirmed. Nova's API names no
        destination; the scheduler reads it from the placement table.

        :param flavor: ID of the flavor
        """
        self._act(instance_uuid, TO_A_HOST, {'resize': {'flavorRef': flavor}})

    def rebuild(self, instance_uuid: str, image: str) -> None:
        """Replace the root disk of a server by an image, on the same host.

        :param image: UUID of the image
        """
        self._act(instance_uuid, TO_A_HOST, {'rebuild': {'imageRef': image}})

    def confirm(self, instance_uuid: str) -> None:
        """Confirm a resize or a cold migration."""
        self._act(instance_uuid, TO_A_HOST, {'confirmResize': None})

    def _act(self, instance_uuid: str, version: str,
             body: Mapping[str, Any]) -> None:
        self._nova.post(f'/servers/{instance_uuid}/action', body, version)
