# SPDX-License-Identifier: Apache-2.0
"""memcached, in which services cache validated tokens."""

import os

from tools.cloud.mariadb import listens
from tools.cloud.ports import ADDRESS
from tools.cloud.service import Service


class Memcached(Service):
    name = 'memcached'

    def start(self) -> None:
        user = ['-u', 'root'] if os.geteuid() == 0 else []
        self.processes.start('memcached', [
            'memcached', *user, '-l', ADDRESS, '-m', 64,
            '-p', self.layout.ports['memcached'], '-U', 0])

    def wait(self) -> None:
        self.wait_until(lambda: listens(self.layout.ports['memcached']))
