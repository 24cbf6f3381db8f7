# SPDX-License-Identifier: Apache-2.0
"""A MariaDB of the tests."""

import getpass
import shutil
import subprocess

import pymysql

from tests.services.database_server import DatabaseServer
from tools.mariadb_options import NO_WAITS


class MariaDB(DatabaseServer):
    """mariadbd on a Unix socket."""

    name = 'MariaDB'
    creating = 'CREATE DATABASE {} CHARACTER SET utf8mb4'
    error = pymysql.Error

    @property
    def _socket(self):
        return self.directory / 'socket'

    def installed(self):
        data = self.directory / 'data'
        # Debian installs mariadbd in a folder that is not in the PATH of every
        # user.
        server = shutil.which('mariadbd') or '/usr/sbin/mariadbd'
        own = f'--user={getpass.getuser()}'
        subprocess.run(
            ['mariadb-install-db', '--no-defaults', f'--datadir={data}', own,
             '--skip-test-db', '--auth-root-authentication-method=normal',
             *NO_WAITS],
            check=True, capture_output=True)
        return [server, '--no-defaults', f'--datadir={data}', own,
                f'--socket={self._socket}', '--skip-networking',
                f'--pid-file={self.directory}/pid',
                # Other servers delete the temporary tables that they find in
                # their folder.
                f'--tmpdir={self.directory}', '--max-connections=300',
                # The tests do not need durability.
                '--innodb-flush-log-at-trx-commit=0',
                '--innodb-doublewrite=0',
                '--innodb-buffer-pool-size=128M', *NO_WAITS], {}

    def url(self, name):
        return (f'mysql+pymysql://root@localhost/{name}'
                f'?unix_socket={self._socket}')

    def execute(self, statement):
        with pymysql.connect(
                unix_socket=str(self._socket), user='root') as link:
            link.cursor().execute(statement)
