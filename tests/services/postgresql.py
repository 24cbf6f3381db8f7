# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of the tests' own."""

import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import psycopg2

from tests.services.background import Process

PLACES = pathlib.Path('/usr/lib/postgresql')
"""Where Debian keeps its versions."""


class PostgreSQL:
    """postgres on a Unix socket, run by whoever runs the tests; it refuses
    to be root, so that root's is another user's."""

    def __init__(self):
        # A path that is short enough for a socket.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='postgresql-'))
        self._server = None

    def __enter__(self):
        user = _user()
        if user:
            shutil.chown(self.directory, *user.values())
        data, binaries = self.directory / 'data', _binaries()
        subprocess.run(
            [binaries / 'initdb', '-D', data, '-U', 'holistic', '-A', 'trust',
             '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
            check=True, capture_output=True, cwd=self.directory, **user)
        self._server = Process(
            [binaries / 'postgres', '-D', data, '-k', self.directory,
             '-c', 'listen_addresses=', '-c', 'max_connections=300',
             # Nobody misses what a machine without power forgets.
             '-c', 'fsync=off', '-c', 'synchronous_commit=off',
             '-c', 'full_page_writes=off'],
            self.directory / 'log', cwd=self.directory, **user)
        self._server.wait_until('PostgreSQL', self._answers)
        return self

    def __exit__(self, *failure):
        if self._server is not None:
            self._server.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def create(self, name):
        """A new database; gives its URL."""
        self.execute(f'CREATE DATABASE {name}')
        return (f'postgresql+psycopg2://holistic@/{name}'
                f'?host={self.directory}')

    def drop(self, name):
        self.execute(f'DROP DATABASE IF EXISTS {name} WITH (FORCE)')

    def execute(self, statement):
        link = psycopg2.connect(
            host=str(self.directory), user='holistic', dbname='postgres')
        try:
            link.autocommit = True
            link.cursor().execute(statement)
        finally:
            link.close()

    def _answers(self):
        try:
            self.execute('SELECT 1')
        except psycopg2.Error:
            return False
        return True


def _user():
    """Whom the server runs as, to be told to subprocess."""
    if os.getuid() != 0:
        return {}
    names = {each.pw_name for each in pwd.getpwall()}
    found = pwd.getpwnam('postgres' if 'postgres' in names else 'nobody')
    return {'user': found.pw_uid, 'group': found.pw_gid}


def _binaries():
    """Those of the newest version; PATH, where none is in its usual place."""
    versions = sorted(PLACES.glob('*/bin/postgres'),
                      key=lambda path: int(path.parts[-3]))
    found = versions[-1] if versions else shutil.which('postgres')
    return pathlib.Path(found or '/usr/bin/postgres').parent
