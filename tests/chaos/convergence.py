# SPDX-License-Identifier: Apache-2.0
"""The end of a run: Nova's work ends, if necessary with an operator's help."""

from collections.abc import Mapping
from dataclasses import dataclass
import time

from keystoneauth1.adapter import Adapter

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from tests.chaos.computes import Computes
from tests.chaos.database_reads import read
from tests.chaos.deletion import Deletion
from tests.chaos.final_state import FinalState
from tests.chaos.http_attempts import answered, attempt
from tests.chaos.invariants import (
    left_by_nova, misallocated_by_nova, unfinished_by_nova, violations)
from tools.cloud.catalog import ADMIN, session
from tools.cloud.cloud import Cloud
from tools.cloud.waiting import wait_for, WaitTimeout

REST = 45
"""If Nova does not change an unfinished server for this number of seconds, the
message that would have continued the work was lost with a process."""
SETTLED = 300
"""A violation that lasts for this number of seconds is reported. Nova looks
for the allocations of deleted servers every minute."""


@dataclass(frozen=True)
class Unfinished:
    """Servers that Nova left unfinished. The operator has deleted them.

    :ivar stuck: servers in the middle of a build, a move or a deletion
    :ivar misallocated: servers whose move was interrupted, and left them in
        ERROR or with their allocation on another host
    """

    stuck: int
    misallocated: int


class Operator:
    """The administrator of the cloud."""

    def __init__(self, cloud: Cloud):
        self._layout = cloud.layout
        admin = session(cloud.layout, ADMIN, timeout=60)
        self._nova = Adapter(admin, service_type='compute',
                             default_microversion='2.90')
        self._placement = Adapter(admin, service_type='placement',
                                  default_microversion='1.39')
        self._groups = Client(admin).groups
        self._computes = Computes(cloud, self._nova)
        self._deletion = Deletion(self._nova, self._computes, self.facts)

    @property
    def restarts(self) -> int:
        """Number of restarts of a nova-compute by the operator."""
        return self._computes.restarts

    def put_hosts_back(self) -> None:
        """Wait until every nova-compute is up and answers."""
        self._computes.put_back()

    def let_servers_rest(self) -> Unfinished:
        """Wait until Nova works on no server, or has changed no unfinished
        server for ``REST`` seconds. Then delete the servers that are stuck or
        misallocated, and return their numbers."""
        last, since = self._at_work(), time.monotonic()
        while last and time.monotonic() - since < REST:
            time.sleep(0.5)
            now = self._at_work()
            if now != last:
                last, since = now, time.monotonic()
        stuck = {*last}
        misallocated = {*misallocated_by_nova(self.facts())} - stuck
        self._deletion.delete(stuck | misallocated)
        return Unfinished(len(stuck), len(misallocated))

    def violations(self, rack_of: dict[str, str]) -> list[str]:
        """The violations that last for ``SETTLED`` seconds.

        :param rack_of: the rack of each host
        """
        remaining: list[str] = []

        def none() -> bool:
            remaining[:] = violations(self.facts(), rack_of)
            return not remaining

        try:
            wait_for('the invariants', none, SETTLED, 1)
        except WaitTimeout:
            pass
        return remaining

    def facts(self) -> FinalState:
        """The rows of the databases, as soon as MariaDB responds."""
        return wait_for('MariaDB', answered(lambda: read(self._layout)))

    def clear(self) -> None:
        """Delete all servers and groups, and the orphaned allocations that
        Nova has left."""
        self._deletion.delete(self.facts().servers)
        for uuid in self.facts().groups:
            wait_for(f'group {uuid} to be deleted',
                     lambda: self._is_deleted(uuid), pause=0.5)
        wait_for('the last allocation to go', self._is_empty, pause=0.5)

    def _is_empty(self) -> bool:
        """Whether Placement has no allocations. Orphaned allocations that Nova
        has left are deleted first."""
        facts = self.facts()
        for consumer in left_by_nova(facts):
            attempt(lambda: self._placement.delete(
                f'/allocations/{consumer}'))
        return not facts.allocations

    def _at_work(self) -> Mapping[str, tuple]:
        """The states of servers that are being built, changed or deleted.
        Resizes that wait for their confirmation are confirmed."""
        busy = {}
        for uuid, server in self.facts().servers.items():
            if unfinished_by_nova(server):
                busy[uuid] = (server['vm_state'], server['task_state'],
                              server['host'])
            if server['vm_state'] == 'resized':
                attempt(lambda: self._nova.post(
                    f'/servers/{uuid}/action', json={'confirmResize': None}))
        return busy

    def _is_deleted(self, group: str) -> bool:
        try:
            self._groups.delete(group)
        except Refused as error:
            return error.status == 404
        return True
