# SPDX-License-Identifier: Apache-2.0
"""What became of the servers, as Nova tells an administrator."""

import abc
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from nova_holistic.inventory.service import Service

MICROVERSION = '2.1'
FEW = 20
"""Servers asked for one by one; of more, the project's list is read."""


@dataclass(frozen=True, slots=True)
class InstanceView:
    """A server that exists.

    :ivar host: where it is; None where it is nowhere: not yet built, failed
        to build, or shelved and offloaded
    :ivar node: hypervisor host name
    :ivar status: Nova's: ACTIVE, BUILD, ERROR, SHUTOFF ...
    """

    uuid: str
    host: str | None
    status: str
    node: str = ''


class Instances(abc.ABC):
    """Where the reconciler learns of servers."""

    @abc.abstractmethod
    def get(self, instance_uuid: str) -> InstanceView | None:
        """None where there is no such server (any more)."""

    def find(self, instance_uuids: Collection[str],
             project_id: str) -> Mapping[str, InstanceView]:
        """Those of a project's servers that exist, by UUID."""
        found = ((uuid, self.get(uuid)) for uuid in instance_uuids)
        return {uuid: view for uuid, view in found if view is not None}


class NovaInstances(Instances):
    """Servers seen through Nova's API.

    Any method raises ServiceFailed where Nova does not answer, or gives no
    administrator's answer.
    """

    def __init__(self, compute):
        """:param compute: keystoneauth Adapter with an administrator's rights
        """
        self._nova = Service('nova', compute)

    def get(self, instance_uuid: str) -> InstanceView | None:
        path = f'/servers/{instance_uuid}'
        body = self._nova.get(path, MICROVERSION, missing_ok=True)
        if body is None:
            return None
        with self._nova.reading(path):
            return _view(body['server'])

    def find(self, instance_uuids: Collection[str],
             project_id: str) -> Mapping[str, InstanceView]:
        if len(instance_uuids) <= FEW:
            return super().find(instance_uuids, project_id)
        wanted, path = set(instance_uuids), '/servers/detail'
        with self._nova.reading(path):
            found = {server['id']: _view(server) for server
                     in self._nova.pages(path, 'servers', MICROVERSION,
                                         all_tenants='1',
                                         project_id=project_id)
                     if server['id'] in wanted}
        # A page may miss a server that moved between pages.
        return {**found, **super().find(wanted - found.keys(), project_id)}


def _view(server: Mapping[str, Any]) -> InstanceView:
    return InstanceView(
        uuid=server['id'], status=server['status'],
        host=server['OS-EXT-SRV-ATTR:host'] or None,
        node=server['OS-EXT-SRV-ATTR:hypervisor_hostname'] or '')
