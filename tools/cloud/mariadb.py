# SPDX-License-Identifier: Apache-2.0
"""MariaDB, with a database for each service that stores data.

The statements for the database of nova_holistic are those of the manual.
"""

import os
import socket

from tools.cloud import manual
from tools.cloud.ports import ADDRESS
from tools.cloud.service import Service
from tools.mariadb_options import NO_WAITS

DATABASES = ('keystone', 'placement', 'glance', 'nova_api', 'nova_cell0',
             'nova_cell1', 'heat')


class MariaDB(Service):
    name = 'mariadb'

    def prepare(self) -> None:
        self.processes.run('mariadb', [
            'mariadb-install-db', '--no-defaults', *self._user(),
            f'--datadir={self._data}', '--skip-test-db',
            '--auth-root-authentication-method=normal', *NO_WAITS])
        password = self.layout.password
        self._first_words.write_text('\n'.join([
            f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';",
            "CREATE USER IF NOT EXISTS 'cloud'@'127.0.0.1' "
            f"IDENTIFIED BY '{password}';",
            "GRANT ALL ON *.* TO 'cloud'@'127.0.0.1';",
            *(f'CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4;'
              for name in DATABASES),
            *manual.database_statements(password)]) + '\n')

    def start(self) -> None:
        self.processes.start('mariadb', [
            'mariadbd', '--no-defaults', *self._user(),
            f'--datadir={self._data}', f'--init-file={self._first_words}',
            # At its start, a server deletes the temporary tables of all
            # servers that use the same directory.
            f'--tmpdir={self._data.parent}',
            # The socket is in the data directory, because its path must be
            # short.
            '--socket=mariadb.sock', '--pid-file=mariadb.pid',
            f'--bind-address={ADDRESS}',
            f'--port={self.layout.ports["mariadb"]}',
            '--skip-name-resolve', '--max-connections=1000',
            # A killed process loses no data. A power failure does not matter
            # here.
            '--innodb-flush-log-at-trx-commit=2', '--skip-log-bin',
            '--innodb-buffer-pool-size=128M', '--performance-schema=OFF',
            *NO_WAITS])

    def wait(self) -> None:
        self.wait_until(lambda: listens(self.layout.ports['mariadb']))

    @property
    def _data(self):
        return self.layout.state('mariadb') / 'data'

    @property
    def _first_words(self):
        return self.layout.configuration('mariadb') / 'first.sql'

    @staticmethod
    def _user() -> list[str]:
        """MariaDB runs as root only if the option names root."""
        return ['--user=root'] if os.geteuid() == 0 else []


def listens(port: int) -> bool:
    """Return whether a server accepts connections at the port."""
    with socket.socket() as end:
        return end.connect_ex((ADDRESS, port)) == 0
