# SPDX-License-Identifier: Apache-2.0
"""A MariaDB of the tests' own."""

import getpass
import pathlib
import shutil
import subprocess
import tempfile

import pymysql

from tests.services.background import Process


class MariaDB:
    """mariadbd on a Unix socket, run by whoever runs the tests."""

    def __init__(self):
        # A path that is short enough for a socket.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='mariadb-'))
        self._socket = self.directory / 'socket'
        self._server = None

    def __enter__(self):
        data = self.directory / 'data'
        # Where Debian keeps it is not in everybody's path.
        server = shutil.which('mariadbd') or '/usr/sbin/mariadbd'
        own = f'--user={getpass.getuser()}'
        subprocess.run(
            ['mariadb-install-db', '--no-defaults', f'--datadir={data}', own,
             '--skip-test-db', '--auth-root-authentication-method=normal'],
            check=True, capture_output=True)
        self._server = Process(
            [server, '--no-defaults', f'--datadir={data}', own,
             f'--socket={self._socket}', '--skip-networking',
             f'--pid-file={self.directory}/pid', '--max-connections=300',
             # Nobody misses what a machine without power forgets.
             '--innodb-flush-log-at-trx-commit=0', '--innodb-doublewrite=0',
             '--innodb-buffer-pool-size=128M'],
            self.directory / 'log')
        self._server.wait_until('MariaDB', self._answers)
        return self

    def __exit__(self, *failure):
        if self._server is not None:
            self._server.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def create(self, name):
        """A new database; gives its URL."""
        self.execute(f'CREATE DATABASE {name} CHARACTER SET utf8mb4')
        return (f'mysql+pymysql://root@localhost/{name}'
                f'?unix_socket={self._socket}')

    def drop(self, name):
        self.execute(f'DROP DATABASE IF EXISTS {name}')

    def execute(self, statement):
        with pymysql.connect(
                unix_socket=str(self._socket), user='root') as link:
            link.cursor().execute(statement)

    def _answers(self):
        try:
            self.execute('SELECT 1')
        except pymysql.Error:
            return False
        return True
