# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.ungrouped_servers DIRECTORY RATE``: servers without a
group are created and deleted on the cloud in a directory.

In each second RATE servers are created, and as many are deleted. Each lives
for some seconds. The process prints a line when it begins. When it reads a
line, or the end of its input, it deletes all servers that are left, and
prints how many there were.
"""

import collections
from concurrent import futures
import json
import random
import sys
import threading
import time
import uuid

from benchmarks import inserted_servers

LIFETIME = 5.0
"""Seconds for which a server exists."""
THREADS = 4


class UngroupedServers:
    def __init__(self, layout):
        placement = inserted_servers.placement_of(layout)
        self._servers = inserted_servers.Servers(layout, placement)
        self._providers = [
            (each['name'], each['uuid']) for each in placement.get(
                '/resource_providers').json()['resource_providers']]
        self._lock = threading.Lock()
        self._alive = collections.deque()
        self._random = random.Random(0)
        self.created = self.deleted = self.refused = 0

    def create(self):
        host, provider = self._random.choice(self._providers)
        server = str(uuid.uuid4())
        created = self._servers.create(server, host, provider)
        with self._lock:
            if created:
                self.created += 1
                self._alive.append((time.monotonic(), server, host))
            else:
                self.refused += 1

    def delete(self, before):
        """Delete the oldest server if it was created before a moment."""
        with self._lock:
            if not self._alive or self._alive[0][0] >= before:
                return False
            _, server, host = self._alive.popleft()
        self._servers.delete(server, host)
        with self._lock:
            self.deleted += 1
        return True


def run(other_servers, rate, ended):
    """Create and delete until the end; a slow cloud gets fewer, not all that
    it has missed."""
    with futures.ThreadPoolExecutor(THREADS) as pool:
        due, pending = time.monotonic(), []
        while not ended.is_set():
            pending = [each for each in pending if not each.done()]
            if len(pending) < 2 * THREADS:
                pending.append(pool.submit(other_servers.create))
                pending.append(pool.submit(
                    other_servers.delete, time.monotonic() - LIFETIME))
            due = max(due + 1 / rate, time.monotonic())
            ended.wait(due - time.monotonic())
    while other_servers.delete(time.monotonic()):
        pass


def main(directory, rate):
    other_servers = UngroupedServers(inserted_servers.configure(directory))
    # Errors of the first server are reported before anything is measured.
    other_servers.create()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), ended.set()),
                     daemon=True).start()
    begin = time.monotonic()
    print('created', flush=True)
    run(other_servers, float(rate), ended)
    print(json.dumps({
        'created': other_servers.created, 'deleted': other_servers.deleted,
        'refused': other_servers.refused,
        'seconds': time.monotonic() - begin}))


if __name__ == '__main__':
    main(*sys.argv[1:])
