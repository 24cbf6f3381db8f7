# SPDX-License-Identifier: Apache-2.0
"""The end of a run: the cloud comes to rest, with an operator's help where
Nova cannot do without."""

from collections.abc import Callable
import datetime

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions
import pymysql

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from tests.chaos.facts import Facts
from tests.chaos.faults import Faults
from tests.chaos.invariants import left_by_nova, violations
from tests.chaos.reading import read
from tools.cloud.catalog import ADMIN, session
from tools.cloud.cloud import Cloud
from tools.cloud.waiting import NotThere, wait_for

REST = 45
"""Seconds for which Nova may work on a server. After that, the message that
would have continued the work was lost with a process."""
SETTLED = 180
"""Seconds after which all that is wrong stays wrong."""


class Operator:
    """The administrator of the cloud."""

    def __init__(self, cloud: Cloud):
        self._layout = cloud.layout
        self._faults = Faults(cloud)
        admin = session(cloud.layout, ADMIN, timeout=60)
        self._nova = Adapter(admin, service_type='compute',
                             default_microversion='2.90')
        self._placement = Adapter(admin, service_type='placement',
                                  default_microversion='1.39')
        self._groups = Client(admin).groups

    def put_hosts_back(self) -> None:
        """Every host is up, and no host is forced down; returns when each
        nova-compute has reported since now. A process that does not report
        is restarted."""
        since = datetime.datetime.now(datetime.timezone.utc).isoformat()
        wait_for('Nova', _answered(lambda: self._nova.get('/os-services')))
        wait_for('hosts that are not forced down', self._release_hosts,
                 pause=1)
        try:
            wait_for('every nova-compute', lambda: not self._silent(since),
                     REST, 0.5)
        except NotThere:
            # As an operator does with a service that has lost its broker.
            for host in self._silent(since):
                self._faults.stop(host)
                self._faults.resume(host)
            wait_for('every nova-compute', lambda: not self._silent(since),
                     pause=0.5)

    def let_servers_rest(self) -> int:
        """Returns when Nova works on no server.

        :returns: how many servers Nova left in the middle of a build, a move
            or a deletion; they are deleted
        """
        try:
            wait_for('servers', lambda: not self._at_work(), REST, 0.5)
        except NotThere:
            pass
        stuck = [*{*self._at_work(), *self._left_in_a_move()}]
        self._delete(stuck)
        return len(stuck)

    def violations(self, rack_of: dict[str, str]) -> list[str]:
        """Those that last."""
        found: list[str] = []

        def none() -> bool:
            found[:] = violations(self.facts(), rack_of)
            return not found

        try:
            wait_for('the invariants', none, SETTLED, 1)
        except NotThere:
            pass
        return found

    def facts(self) -> Facts:
        return wait_for('MariaDB', _answered(lambda: read(self._layout)))

    def clear(self) -> None:
        """Delete all servers and groups, and what Nova has forgotten."""
        self._delete([*self.facts().servers])
        for uuid in self.facts().groups:
            wait_for(f'group {uuid} to be deleted',
                     lambda: self._is_deleted(uuid), pause=0.5)
        for consumer in left_by_nova(self.facts()):
            self._placement.delete(f'/allocations/{consumer}')
        wait_for('the last allocation to go',
                 lambda: not self.facts().allocations, pause=0.5)

    def _release_hosts(self) -> bool:
        """Whether no host is forced down any more. Nova refuses this for a
        host that has not yet cleaned up after an evacuation."""
        forced = [service for service in self._computes()
                  if service['forced_down']]
        for service in forced:
            self._try(lambda: self._nova.put(
                f'/os-services/{service["id"]}', json={'forced_down': False}))
        return not forced

    def _silent(self, since: str) -> list[str]:
        """Hosts whose nova-compute has not reported since then."""
        return [service['host'] for service in self._computes()
                if service['state'] != 'up'
                or (service['updated_at'] or '') <= since]

    def _computes(self) -> list[dict]:
        return self._nova.get('/os-services?binary=nova-compute').json()[
            'services']

    def _at_work(self) -> list[str]:
        """Servers that are being built, changed or deleted. A resize is
        confirmed."""
        found = []
        for uuid, server in self.facts().servers.items():
            if server['task_state'] or server['vm_state'] == 'building':
                found.append(uuid)
            elif server['vm_state'] == 'resized':
                found.append(uuid)
                self._try(lambda: self._act(uuid, 'confirmResize', None))
        return found

    def _left_in_a_move(self) -> list[str]:
        """Servers whose move broke off because a process was killed, and that
        Nova has set to ERROR, or counts on another host than they are on."""
        facts = self.facts()
        last = {each['instance_uuid']: each
                for each in facts.migrations.values()}
        return [uuid for uuid, server in facts.servers.items()
                if uuid in last and (
                    server['vm_state'] == 'error'
                    or last[uuid]['status'] == 'error'
                    and {*facts.allocations.get(uuid, ())}
                    != {server['host']})]

    def _delete(self, servers: list[str]) -> None:
        """Delete servers, whatever Nova takes them to be at.

        :raises NotThere: Nova does not delete one of them
        """
        for patience, state in ((15, None), (60, 'error')):
            for uuid in servers:
                if state:
                    self._try(lambda: self._act(
                        uuid, 'os-resetState', {'state': state}))
                self._try(lambda: self._nova.delete(f'/servers/{uuid}'))
            try:
                wait_for('servers to go', lambda: not self._there(servers),
                         patience, 0.5)
                return
            except NotThere:
                servers = self._there(servers)
        raise NotThere(f'deletion of servers {servers}')

    def _there(self, servers: list[str]) -> list[str]:
        """Those of them that Nova has not deleted."""
        return [*self.facts().servers.keys() & set(servers)]

    def _act(self, server: str, action: str, about: dict | None) -> None:
        self._nova.post(f'/servers/{server}/action', json={action: about})

    @staticmethod
    def _try(call: Callable[[], object]) -> None:
        try:
            call()
        except ks_exceptions.ClientException:
            # Nova is at work on the server, or has deleted it.
            pass

    def _is_deleted(self, group: str) -> bool:
        try:
            self._groups.delete(group)
        except Refused as error:
            return error.status == 404
        return True


def _answered(call: Callable[[], object]) -> Callable[[], object]:
    """The call, which gives None while a service does not answer."""
    def answer() -> object:
        try:
            return call()
        except (ks_exceptions.ClientException, pymysql.Error):
            return None
    return answer
