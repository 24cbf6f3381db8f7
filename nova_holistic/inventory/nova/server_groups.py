# SPDX-License-Identifier: Apache-2.0
"""Server groups as Nova knows them."""

from collections.abc import Iterable

from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.server_group import ServerGroup

GROUPS_VERSION = '2.64'
"""One policy with rules, instead of a list of policies."""
SERVERS_VERSION = '2.1'
HOST = 'OS-EXT-SRV-ATTR:host'


def read_server_group(nova: ServiceClient, uuid: str) -> ServerGroup | None:
    """A server group with the hosts of its servers; None if it does not exist.

    Requests: one, and one more for each server of the group.

    :raises ServiceFailed: Nova does not answer, or gives an invalid answer
    """
    path = f'/os-server-groups/{uuid}'
    with nova.reading(path):
        found = nova.get(path, GROUPS_VERSION, missing_ok=True)
        if found is None:
            return None
        group = found['server_group']
        rules = group.get('rules') or {}
        return ServerGroup(
            uuid=uuid, policy=group['policy'],
            project_id=group['project_id'],
            max_per_host=int(rules.get('max_server_per_host', 1)),
            hosts=FrozenMapping(dict(_hosts(nova, group['members']))))


def _hosts(nova: ServiceClient, servers: Iterable[str]
           ) -> Iterable[tuple[str, str]]:
    for uuid in servers:
        path = f'/servers/{uuid}'
        found = nova.get(path, SERVERS_VERSION, missing_ok=True)
        host = found and found['server'].get(HOST)
        if host:
            yield uuid, host
