# SPDX-License-Identifier: Apache-2.0
"""Carry out operations as users and operators do: through the APIs."""

from collections.abc import Callable
from collections import defaultdict
import threading
import time

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from tests.chaos.faults import Faults
from tests.chaos.http_attempts import answered
from tests.chaos.operations import Operation, Sequence
from tests.chaos.outcomes import Void
from tools.cloud.catalog import ADMIN, MEMBER, session
from tools.cloud.cloud import Cloud
from tools.cloud.initial_resources import IMAGE
from tools.cloud.waiting import wait_for, WaitTimeout

WAIT_SECONDS = 15
"""Timeout of a step of an operation in seconds. If a step takes longer, it
continues while the next operation begins."""
EVACUATION = 120
"""Timeout of an evacuation in seconds."""
EVACUATING = ('accepted', 'pre-migrating')
"""Statuses of the migration of a server that is being evacuated."""
ANSWER = 20
"""Timeout of a request in seconds."""
LARGER = 'larger'
"""An additional flavor in the cloud of chaos runs."""
SHORT_LEASE = 20
"""The lease of some groups in seconds."""


class Users:
    """The users of one project, and an operator.

    :ivar groups: UUIDs of groups by their numbers
    """

    def __init__(self, cloud: Cloud, planned: Sequence, faults: Faults):
        self._planned = planned
        self._faults = faults
        self._operator_at_work = threading.Lock()
        self.groups: dict[int, str] = {}
        self._servers: dict[tuple, list[str]] = defaultdict(list)
        self._under_way: dict[tuple, set[int]] = defaultdict(set)
        user, admin = (session(cloud.layout, who, timeout=ANSWER)
                       for who in (MEMBER, ADMIN))
        self._client = Client(user)
        self._nova, self._admin = (Adapter(
            each, service_type='compute', default_microversion='2.90')
            for each in (user, admin))
        self._image = Adapter(user, service_type='image').get(
            f'/v2/images?name={IMAGE}').json()['images'][0]['id']

    def begin(self, operation: Operation) -> None:
        """Register an operation. Later operations wait for the objects that it
        creates."""
        if operation.kind in ('create', 'boot', 'boot other server'):
            self._under_way[operation.group, operation.member].add(
                operation.number)

    def end(self, operation: Operation) -> None:
        """Register that an operation has ended."""
        self._under_way[operation.group, operation.member].discard(
            operation.number)

    def perform(self, operation: Operation) -> None:
        """Carry out an operation.

        :raises Void: the group or server does not exist
        :raises WaitTimeout: a step did not end in time
        :raises keystoneauth1.exceptions.ClientException: Nova refused the
            request, or did not respond
        :raises Refused: the group API refused the request, or did not respond
        """
        getattr(self, '_' + operation.kind.replace(' ', '_').replace(
            '-', '_'))(operation)

    # Groups.

    def _create(self, operation: Operation) -> None:
        group = self._answered(lambda: self._client.groups.create(
            self._document(operation), idempotency_key=(
                f'{self._planned.seed}-{operation.number}'),
            lease=SHORT_LEASE if operation.dice < 0.15 else None))
        self.groups[operation.group] = group['id']
        self._client.groups.wait(group['id'], WAIT_SECONDS)

    def _update(self, operation: Operation) -> None:
        group = self._group(operation)
        current = self._client.groups.wait(group, WAIT_SECONDS)
        self._client.groups.update(
            group, self._document(operation), current['revision'])

    def _release(self, operation: Operation) -> None:
        paths = self._shape(operation).paths(operation.count)
        members = None
        if operation.dice < 0.85:
            members = [paths[int(operation.dice / 0.85 * len(paths))]]
        self._client.groups.release(self._group(operation), members)

    def _replan(self, operation: Operation) -> None:
        self._client.groups.replan(self._group(operation))

    def _delete_group(self, operation: Operation) -> None:
        group = self._group(operation)
        self._client.groups.wait(group, WAIT_SECONDS)
        self._client.groups.delete(group)

    # Servers.

    def _boot(self, operation: Operation) -> None:
        group = self._group(operation)
        self._client.groups.wait(group, WAIT_SECONDS)
        self._boot_server(
            operation, self._shape(operation).flavor(operation.member),
            {'holistic_group': group, 'holistic_member': operation.member})

    def _boot_other_server(self, operation: Operation) -> None:
        self._boot_server(
            operation, 'large' if operation.dice < 0.7 else 'small', {})

    def _boot_server(self, operation: Operation, flavor: str,
                     hints: dict[str, str]) -> None:
        response = self._nova.post('/servers', json={
            'server': {'name': f'chaos-{operation.number}',
                       'imageRef': self._image, 'networks': 'none',
                       'flavorRef': flavor},
            'os:scheduler_hints': hints}).json()
        self._servers[operation.group, operation.member].append(
            response['server']['id'])

    def _delete_server(self, operation: Operation) -> None:
        self._nova.delete(f'/servers/{self._server(operation)}')

    def _delete_other_server(self, operation: Operation) -> None:
        self._delete_server(operation)

    # Moves.

    def _migrate(self, operation: Operation) -> None:
        server = self._active(operation)
        self._act(server, 'migrate', None)
        self._finish_resize(server, operation)

    def _live_migrate(self, operation: Operation) -> None:
        server = self._active(operation)
        self._act(server, 'os-migrateLive',
                  {'host': None, 'block_migration': 'auto'})
        self._wait(server, lambda view: view['status'] != 'MIGRATING')

    def _resize(self, operation: Operation) -> None:
        server = self._active(operation)
        flavor = self._view(server)['flavor']['original_name']
        self._act(server, 'resize', {
            'flavorRef': LARGER if flavor == 'large' else 'large'})
        self._finish_resize(server, operation)

    def _finish_resize(self, server: str, operation: Operation) -> None:
        """Confirm or revert a resize or a cold migration."""
        view = self._wait(server, lambda view: view['status'] in (
            'VERIFY_RESIZE', 'ERROR')
            or view['OS-EXT-STS:task_state'] is None)
        if view['status'] == 'VERIFY_RESIZE':
            self._act(server, 'confirmResize' if operation.dice < 0.7
                      else 'revertResize', None)

    def _evacuate(self, operation: Operation) -> None:
        """A host fails, and the operator evacuates its servers."""
        server = self._active(operation)
        with self._operator_at_work:
            host = self._view(server)['OS-EXT-SRV-ATTR:host']
            self._faults.stop(host)
            try:
                self._force_down(host, True)
                servers = self._admin.get(
                    f'/servers?all_tenants=1&host={host}').json()['servers']
                for each in servers:
                    self._try(each['id'], 'evacuate', {})
                self._wait_for_evacuation(host)
            finally:
                self._faults.resume(host)
                self._release_host(host)

    def _release_host(self, host: str) -> None:
        """Release the host from being forced down. Nova refuses this until the
        host has cleaned up."""
        def released() -> bool:
            try:
                self._force_down(host, False)
            except ks_exceptions.ClientException:
                return False
            return True
        wait_for(f'{host} to be up', released, WAIT_SECONDS, 1)

    def _wait_for_evacuation(self, host: str) -> None:
        """Wait until no evacuation of the host is in progress. According to
        Nova's manual, a host that returns earlier frees the capacity of
        servers that are still on it."""
        def ended() -> bool:
            migrations = self._admin.get(
                f'/os-migrations?migration_type=evacuation&source_compute='
                f'{host}').json()['migrations']
            return all(each['status'] not in EVACUATING for each in migrations)
        wait_for(f'evacuation of {host}', answered(ended), EVACUATION, 1)

    def _force_down(self, host: str, is_down: bool) -> None:
        service, = self._admin.get(
            f'/os-services?binary=nova-compute&host={host}').json()[
                'services']
        self._admin.put(f'/os-services/{service["id"]}',
                        json={'forced_down': is_down})

    # Helpers of several operations.

    def _document(self, operation: Operation) -> dict:
        return self._shape(operation).document(
            f'group-{operation.group}', operation.count)

    def _shape(self, operation: Operation):
        return self._planned.shapes[operation.group]

    @staticmethod
    def _answered(create: Callable[[], dict]) -> dict:
        """The API's response to a create request. The request is repeated for
        at most ``WAIT_SECONDS`` while the API is unavailable."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                return create()
            except Refused as error:
                if not error.is_transient or time.monotonic() > until:
                    raise
            time.sleep(1)

    def _group(self, operation: Operation) -> str:
        self._wait_for_earlier(operation, (operation.group, None))
        if operation.group not in self.groups:
            raise Void(f'group {operation.group}')
        return self.groups[operation.group]

    def _wait_for_earlier(self, operation: Operation, created: tuple) -> None:
        """Wait until no earlier operation is creating that group or server."""
        wait_for(f'creation of {created}', lambda: all(
            number >= operation.number
            for number in [*self._under_way[created]]), 2 * WAIT_SECONDS)

    def _server(self, operation: Operation) -> str:
        self._wait_for_earlier(
            operation, (operation.group, operation.member))
        servers = self._servers[operation.group, operation.member]
        if not servers:
            raise Void(f'server of {operation.group}/{operation.member}')
        return servers[int(operation.dice * len(servers))]

    def _active(self, operation: Operation) -> str:
        """The server of the member if it is ACTIVE, and otherwise another
        ACTIVE server."""
        try:
            server = self._server(operation)
            if self._wait(server, lambda view: view['status'] != 'BUILD')[
                    'status'] == 'ACTIVE':
                return server
        except (Void, WaitTimeout):
            pass
        active = self._nova.get('/servers?status=ACTIVE').json()['servers']
        if not active:
            raise Void('no server is ACTIVE')
        return active[int(operation.dice * len(active))]['id']

    def _view(self, server: str) -> dict:
        try:
            return self._admin.get(f'/servers/{server}').json()['server']
        except ks_exceptions.NotFound:
            raise Void(f'server {server}') from None

    def _wait(self, server: str, condition,
              wait_seconds: float = WAIT_SECONDS) -> dict:
        def there():
            view = self._view(server)
            return view if condition(view) else None
        return wait_for(f'server {server}', there, wait_seconds, 1)

    def _act(self, server: str, action: str, about) -> None:
        self._admin.post(f'/servers/{server}/action', json={action: about})

    def _try(self, server: str, action: str, about) -> None:
        try:
            self._act(server, action, about)
        except ks_exceptions.HttpError:
            # Nova does not evacuate a server that it is working on.
            pass
