# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of the tests."""

import os
import pathlib
import pwd
import shutil
import subprocess

import psycopg2

from tests.services.database_server import DatabaseServer

PLACES = pathlib.Path('/usr/lib/postgresql')
"""Debian's folders of the versions of PostgreSQL."""


class PostgreSQL(DatabaseServer):
    """postgres on a Unix socket. It refuses to run as root, so root runs it as
    another user."""

    name = 'PostgreSQL'
    dropping = 'DROP DATABASE IF EXISTS {} WITH (FORCE)'
    error = psycopg2.Error

    def installed(self):
        user = _user()
        if user:
            shutil.chown(self.directory, *user.values())
        data, binaries = self.directory / 'data', _binaries()
        subprocess.run(
            [binaries / 'initdb', '-D', data, '-U', 'holistic', '-A', 'trust',
             '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
            check=True, capture_output=True, cwd=self.directory, **user)
        return [binaries / 'postgres', '-D', data, '-k', self.directory,
                '-c', 'listen_addresses=', '-c', 'max_connections=300',
                # The tests do not need durability.
                '-c', 'fsync=off', '-c', 'synchronous_commit=off',
                '-c', 'full_page_writes=off'], {
                    'cwd': self.directory, **user}

    def url(self, name):
        return (f'postgresql+psycopg2://holistic@/{name}'
                f'?host={self.directory}')

    def copy(self, template, name):
        """Copy a database without connections; returns the URL of the copy."""
        self.execute(f'CREATE DATABASE {name} TEMPLATE {template}')
        return self.url(name)

    def execute(self, statement):
        link = psycopg2.connect(
            host=str(self.directory), user='holistic', dbname='postgres')
        try:
            link.autocommit = True
            link.cursor().execute(statement)
        finally:
            link.close()


def _user():
    """The account that runs the server, as arguments of subprocess."""
    if os.getuid() != 0:
        return {}
    names = {each.pw_name for each in pwd.getpwall()}
    account = pwd.getpwnam('postgres' if 'postgres' in names else 'nobody')
    return {'user': account.pw_uid, 'group': account.pw_gid}


def _binaries():
    """The folder of the programs of the newest version."""
    versions = sorted(PLACES.glob('*/bin/postgres'),
                      key=lambda path: int(path.parts[-3]))
    program = versions[-1] if versions else shutil.which('postgres')
    return pathlib.Path(program or '/usr/bin/postgres').parent
