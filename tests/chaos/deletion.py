# SPDX-License-Identifier: Apache-2.0
"""The administrator deletes servers in any state."""

from collections.abc import Callable, Collection

from keystoneauth1.adapter import Adapter

from tests.chaos.computes import Computes
from tests.chaos.final_state import FinalState
from tests.chaos.http_attempts import attempt
from tools.cloud.waiting import wait_for, WaitTimeout

ROUNDS, ROUND = 60, 5
"""The number of requests for one deletion, and the seconds between two of
them."""
RESETS_FROM = 3
"""From this request on, the state of the server is reset first. Nova ignores
the request for a server that it considers to be in deletion."""
RESTARTS_EVERY = 12
"""Number of requests after which the hosts of the remaining servers are
restarted."""


class Deletion:
    """Deletes servers by repeated requests.

    Nova's request to delete a server is a message to its nova-compute. Nova
    does not repeat a lost message. So the deletion is requested again, and a
    nova-compute that does not carry it out is restarted.
    """

    def __init__(self, nova: Adapter, computes: Computes,
                 facts: Callable[[], FinalState]):
        """:param nova: an adapter with the rights of an administrator"""
        self._nova = nova
        self._computes = computes
        self._facts = facts

    def delete(self, servers: Collection[str]) -> None:
        """Wait until Nova does not know any of the servers.

        :raises WaitTimeout: Nova does not delete one of them
        """
        hosts = self._hosts(servers)
        for number in range(ROUNDS):
            if not hosts:
                return
            if number and not number % RESTARTS_EVERY:
                for host in sorted({*hosts.values()} - {None}):
                    self._computes.restart(host)
                self._computes.put_back()
            for uuid in hosts:
                self._ask(uuid, resets=number >= RESETS_FROM)
            try:
                wait_for('servers to go', lambda: not self._hosts(hosts),
                         ROUND, 0.5)
            except WaitTimeout:
                pass
            hosts = self._hosts(hosts)
        raise WaitTimeout(f'deletion of servers {hosts}')

    def _ask(self, uuid: str, resets: bool) -> None:
        """Request the deletion."""
        if resets:
            attempt(lambda: self._nova.post(
                f'/servers/{uuid}/action',
                json={'os-resetState': {'state': 'error'}}))
        # Nova refuses the request while it works on the server.
        attempt(lambda: self._nova.delete(f'/servers/{uuid}'))

    def _hosts(self, servers: Collection[str]) -> dict[str, str | None]:
        """The hosts of those servers that Nova has not deleted."""
        servers_by_uuid = self._facts().servers
        return {uuid: servers_by_uuid[uuid]['host'] for uuid in servers
                if uuid in servers_by_uuid}
