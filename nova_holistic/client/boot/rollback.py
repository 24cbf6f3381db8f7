# SPDX-License-Identifier: Apache-2.0
"""Delete a group and the servers that were created for it."""

from collections.abc import Callable
from concurrent import futures
import time
from typing import Any

from nova_holistic.client.boot.cloud_parts import CloudServers
from nova_holistic.client.boot.compute import Compute
from nova_holistic.client import errors
from nova_holistic.client.groups import Groups

_PAUSE = 1.0


class Rollback:
    """
    :param parallel: number of deletions at the same time
    :param timeout: seconds to wait for the deletion of all servers
    """

    def __init__(self, groups: Groups, compute: Compute | CloudServers,
                 parallel: int, timeout: float):
        self._groups = groups
        self._compute = compute
        self._parallel = parallel
        self._timeout = timeout

    def roll_back(self, group_uuid: str) -> int:
        """The number of deleted servers.

        Adopted servers remain. If the command is interrupted, it can be
        repeated, because the group is deleted after its servers.

        :raises TimedOut: servers still exist; the group remains
        """
        # Afterwards, nova-scheduler refuses late creates of members.
        self._when_idle(group_uuid, self._groups.release)
        number = self._delete_servers(group_uuid)
        self._when_idle(group_uuid, self._groups.delete)
        # A create request that nova-api had accepted before the release.
        return number + self._delete_servers(group_uuid)

    def _delete_servers(self, group_uuid: str) -> int:
        end = time.monotonic() + self._timeout
        requested: set[str] = set()
        while True:
            remaining = {server['id']
                         for server in self._compute.of_group(group_uuid)}
            if not remaining:
                return len(requested)
            if time.monotonic() > end:
                raise errors.TimedOut(
                    f'{len(remaining)} servers are not deleted after '
                    f'{self._timeout:g} s')
            with futures.ThreadPoolExecutor(self._parallel) as pool:
                list(pool.map(self._compute.delete, remaining - requested))
            requested |= remaining
            time.sleep(_PAUSE)

    def _when_idle(self, group_uuid: str,
                   request: Callable[[str], Any]) -> None:
        """Send a request that the API refuses while an engine works on the
        group."""
        end = time.monotonic() + self._timeout
        while True:
            try:
                self._groups.wait(group_uuid, self._timeout)
                request(group_uuid)
                return
            except errors.Refused as error:
                if error.status == 404:
                    return
                again = error.is_repeatable or error.status == 409
                if not again or time.monotonic() > end:
                    raise
            time.sleep(_PAUSE)
