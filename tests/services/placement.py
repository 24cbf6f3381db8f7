# SPDX-License-Identifier: Apache-2.0
"""A Placement of the tests, as a process."""

import sys

from keystoneauth1 import adapter, session, token_endpoint

from tests.services.background_processes import answers, Process
from tests.services.placement_calls import PlacementCalls
from tools.cloud.ports import free_ports

TOKEN = 'admin'


class PlacementServer(PlacementCalls):
    """Placement over HTTP on loopback, with SQLite in a folder.

    :ivar endpoint: its URL, which accepts the token ``admin``
    :ivar adapter: keystoneauth Adapter with administrator rights
    """

    def __init__(self, directory):
        self._port, = free_ports(1)
        self._directory = directory
        self._process = None
        self.endpoint = f'http://127.0.0.1:{self._port}'
        self.adapter = adapter.Adapter(
            session.Session(auth=token_endpoint.Token(self.endpoint, TOKEN)),
            service_type='placement')

    def __enter__(self):
        self._process = Process(
            [sys.executable, '-m', 'tests.services.placement_process',
             self._port, self._directory / 'placement.sqlite'],
            self._directory / 'placement.log')
        self._process.wait_until('Placement', lambda: answers(self._port))
        return self

    @property
    def pid(self):
        return self._process.pid

    def __exit__(self, *failure):
        self._process.kill()
