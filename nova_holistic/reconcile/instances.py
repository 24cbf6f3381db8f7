# SPDX-License-Identifier: Apache-2.0
"""Reads servers from Nova as an administrator."""

import abc
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
import random
from typing import Any
from urllib.parse import urlencode

from oslo_log import log as logging

from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.inventory.service_client import PAGE, ServiceClient

LOG = logging.getLogger(__name__)

MICROVERSION = '2.1'
WITH_UPDATES = '2.58'
"""From this microversion on, actions have the time of their last update."""
DETAIL = '/servers/detail'
DELETED = 'DELETED'
"""Status of a server that is deleted or is being deleted."""

MOVING = ('RESIZE', 'MIGRATING', 'VERIFY_RESIZE', 'REVERT_RESIZE')
"""Statuses of a server that is between two hosts."""

EVACUATING = 'REBUILD'
"""Status of a server that is evacuated or rebuilt."""

UNDER_WAY = frozenset({
    'accepted', 'queued', 'preparing', 'running', 'pre-migrating',
    'migrating', 'post-migrating', 'finished', 'confirming', 'reverting'})
"""Statuses of a migration that has neither failed nor ended; a finished
migration waits for its confirmation."""

WITHOUT_FORCE = '2.68'
"""From this microversion on, no live migration bypasses the scheduler."""

WITH_TYPES = '2.23'
"""From this microversion on, migrations have types."""

FEW = 5
"""Maximum number of servers that are read one by one. For more, the list of
the project is read."""

FAILURES = 3
"""Number of failed reads of servers after which the queries stop."""


@dataclass(frozen=True, slots=True)
class InstanceView:
    """A server that exists.

    :ivar host: its host; None if it is on no host: not yet built, failed to
        build, or shelved and offloaded
    :ivar node: hypervisor host name
    :ivar launched: the server has run at some time
    :ivar status: status in Nova, for example ACTIVE, BUILD, ERROR or SHUTOFF
    :ivar flavor: ID of its flavor; empty if it is not known
    :ivar fault: whether Nova states a cause of the status ERROR, which proves
        that no user has set the status
    :ivar task: its task state in Nova; None if Nova is not working on it
    :ivar project_id: its project; empty if it is not known
    :ivar image: UUID of its image; empty if its root disk is a volume, or if
        the image is not known
    """

    uuid: str
    host: str | None
    status: str
    node: str = ''
    launched: bool = False
    flavor: str = ''
    fault: bool = False
    task: str | None = None
    project_id: str = ''
    image: str = ''

    @property
    def is_moving(self) -> bool:
        """Whether it is between two hosts or two flavors."""
        return self.status in MOVING

    @property
    def may_have_two_hosts(self) -> bool:
        """Whether Nova may have allocations for it on a source and a
        destination."""
        return self.is_moving or self.status == EVACUATING


@dataclass(frozen=True, slots=True)
class MoveView:
    """A move of a server that has not ended.

    :ivar source: the previous host of the server
    :ivar host: the destination of the server
    :ivar node: hypervisor host name of the destination
    """

    source: str
    host: str
    node: str = ''


class Instances(abc.ABC):
    """The source of servers for the reconciler."""

    @abc.abstractmethod
    def get(self, instance_uuid: str) -> InstanceView | None:
        """The server; None if it does not exist.

        :raises ServiceFailed: Nova does not respond
        """

    def check_service(self) -> None:
        """Check that the service lists servers, as Nova does.

        :raises ServiceFailed: the service is not Nova, or does not respond
        """

    def find(self, instance_uuids: Collection[str],
             project_id: str) -> Mapping[str, InstanceView | None]:
        """The current servers of a project by UUID. The value is None if the
        server does not exist. A server that cannot be read is left out."""
        found: dict[str, InstanceView | None] = {}
        failures = 0
        # The order is random, because after several failures the remaining
        # servers are left out.
        for uuid in random.sample([*instance_uuids], len(instance_uuids)):
            try:
                found[uuid] = self.get(uuid)
            except ServiceFailed as error:
                LOG.warning('Server %s is not checked in this pass: '
                            '%s', uuid, error)
                failures += 1
                if failures == FAILURES:
                    break
        return found

    def was_deleted(self, instance_uuid: str) -> bool:
        """Whether Nova has a record that it deleted a missing server. False if
        Nova does not know the server."""
        return False

    def progressed_at(self, instance_uuid: str) -> datetime | None:
        """The time at which Nova last began or finished an action on a server,
        in naive UTC; None if Nova has not begun any action."""
        return None

    def move(self, instance_uuid: str) -> MoveView | None:
        """The latest move of a server, if it has not ended and Nova has
        chosen a destination."""
        return None

    def live_migrate(self, instance_uuid: str, host: str) -> None:
        """Request the live migration of a server to a host, which Nova's
        scheduler must accept. The response states only that Nova has begun.

        :raises ServiceFailed: Nova refuses, or does not respond
        """
        raise ServiceFailed('nova', f'/servers/{instance_uuid}/action',
                            'it cannot move servers')

    def changed(self, since: datetime) -> Iterator[InstanceView] | None:
        """Servers of all projects that have changed since a point in time,
        including deleted servers; None if Nova cannot list them.

        :param since: naive UTC, by Nova's clocks
        """
        return None


class NovaInstances(Instances):
    """Reads servers through Nova's API.

    Every method raises ServiceFailed if Nova does not respond, or if the
    response lacks fields that Nova shows to administrators.
    """

    def __init__(self, compute):
        """:param compute: keystoneauth Adapter with an administrator's rights
        """
        self._nova = ServiceClient('nova', compute)

    def get(self, instance_uuid: str) -> InstanceView | None:
        path = f'/servers/{instance_uuid}'
        body = self._nova.get(path, MICROVERSION, missing_ok=True)
        if body is None:
            return None
        with self._nova.reading(path):
            return _view(body['server'])

    def check_service(self) -> None:
        path = f'{DETAIL}?all_tenants=1&limit=1'
        with self._nova.reading(path):
            servers = self._nova.get(path, MICROVERSION)['servers']
            if not isinstance(servers, list):
                raise TypeError('servers is not a list')

    def find(self, instance_uuids: Collection[str],
             project_id: str) -> Mapping[str, InstanceView | None]:
        found: Mapping[str, InstanceView] = {}
        if len(instance_uuids) > FEW:
            found = self._listed(instance_uuids, project_id)
        # A list may miss a server that was created or moved between pages
        # while it was read: a server counts as deleted only if Nova confirms
        # it for this server.
        return {**found, **super().find(
            set(instance_uuids) - found.keys(), project_id)}

    def was_deleted(self, instance_uuid: str) -> bool:
        path = f'{DETAIL}?' + urlencode({
            'all_tenants': '1', 'deleted': 'True', 'uuid': instance_uuid})
        with self._nova.reading(path):
            return any(
                server['id'] == instance_uuid for server
                in self._nova.get(path, MICROVERSION)['servers'])

    def progressed_at(self, instance_uuid: str) -> datetime | None:
        path = f'/servers/{instance_uuid}/os-instance-actions'
        with self._nova.reading(path):
            body = self._nova.get(path, WITH_UPDATES)
            return max((datetime.fromisoformat(
                action['updated_at'] or action['start_time']
            ).replace(tzinfo=None) for action in body['instanceActions']),
                default=None)

    def move(self, instance_uuid: str) -> MoveView | None:
        path = '/os-migrations?' + urlencode({'instance_uuid': instance_uuid})
        with self._nova.reading(path):
            found = [each for each
                     in self._nova.get(path, WITH_TYPES)['migrations']
                     if each['instance_uuid'] == instance_uuid
                     and each['status'] in UNDER_WAY and each['dest_compute']]
            if not found:
                return None
            latest = max(found, key=lambda each: each['id'])
            return MoveView(latest['source_compute'], latest['dest_compute'],
                            latest['dest_node'] or '')

    def live_migrate(self, instance_uuid: str, host: str) -> None:
        self._nova.post(
            f'/servers/{instance_uuid}/action', {'os-migrateLive': {
                'host': host, 'block_migration': 'auto'}}, WITHOUT_FORCE)

    def changed(self, since: datetime) -> Iterator[InstanceView]:
        with self._nova.reading(DETAIL):
            for server in self._nova.pages(
                    DETAIL, 'servers', MICROVERSION, all_tenants='1',
                    **{'changes-since': f'{since:%Y-%m-%dT%H:%M:%SZ}'}):
                yield _view(server)

    def _listed(self, instance_uuids: Collection[str],
                project_id: str) -> Mapping[str, InstanceView]:
        """The servers that were found in the list of the project. The list is
        read only while it needs fewer requests than single servers."""
        missing, found = set(instance_uuids), {}
        with self._nova.reading(DETAIL):
            for number, server in enumerate(self._nova.pages(
                    DETAIL, 'servers', MICROVERSION, all_tenants='1',
                    project_id=project_id), 1):
                if server['id'] in missing:
                    missing.discard(server['id'])
                    found[server['id']] = _view(server)
                if not missing or is_list_too_long(number, len(missing)):
                    break
        return found


def is_list_too_long(listed: int, servers: int) -> bool:
    """Whether reading more of a list needs more requests than reading single
    servers.

    At the end of a page, this is so if there are at most as many remaining
    servers as pages that were read, because each server takes one request.

    :param listed: number of items of the list that were read
    """
    return listed % PAGE == 0 and listed // PAGE >= servers


def _view(server: Mapping[str, Any]) -> InstanceView:
    return InstanceView(
        uuid=server['id'], status=server['status'],
        host=server['OS-EXT-SRV-ATTR:host'] or None,
        node=server['OS-EXT-SRV-ATTR:hypervisor_hostname'] or '',
        launched=server.get('OS-SRV-USG:launched_at') is not None,
        flavor=(server.get('flavor') or {}).get('id', ''),
        fault='fault' in server,
        task=server.get('OS-EXT-STS:task_state'),
        project_id=server.get('tenant_id', ''),
        image=(server.get('image') or {}).get('id', ''))
