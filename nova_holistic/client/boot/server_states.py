# SPDX-License-Identifier: Apache-2.0
"""The states of a group's servers, read once for all waiting threads."""

from collections.abc import Mapping
import threading
import time

from nova_holistic.client.boot.compute import Compute, Server

_INTERVAL = 1.0


class ServerStates:
    """One request reads all servers of the group. Requests for single servers
    would load Nova's API as much as the creates do."""

    def __init__(self, compute: Compute, group_uuid: str):
        self._compute = compute
        self._group_uuid = group_uuid
        self._lock = threading.Lock()
        self._servers: Mapping[str, Server] = {}
        self._read_at = float('-inf')

    def server(self, uuid: str) -> Server | None:
        """A server, as it was at most one second ago; None if it does not
        exist."""
        with self._lock:
            if time.monotonic() - self._read_at > _INTERVAL:
                self._servers = {listed['id']: listed for listed
                                 in self._compute.of_group(self._group_uuid)}
                self._read_at = time.monotonic()
            server = self._servers.get(uuid)
        # A server that was adopted is not in the list.
        return server or self._compute.server(uuid)
