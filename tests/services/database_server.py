# SPDX-License-Identifier: Apache-2.0
"""A database server of the tests, on a Unix socket."""

import abc
import pathlib
import shutil
import tempfile

from tests.services.background_processes import Process


class DatabaseServer(abc.ABC):
    """A server that the user of the tests runs in a temporary folder.

    :cvar name: the usual spelling of its name
    :cvar dropping: format of the statement that drops a database
    :cvar creating: format of the statement that creates a database
    """

    name: str
    dropping = 'DROP DATABASE IF EXISTS {}'
    creating = 'CREATE DATABASE {}'

    def __init__(self):
        # The path must be short enough for a socket.
        self.directory = pathlib.Path(
            tempfile.mkdtemp(prefix=f'{self.name.lower()}-'))
        self._server = None

    def __enter__(self):
        command, options = self.installed()
        self._server = Process(command, self.directory / 'log', **options)
        self._server.wait_until(self.name, self._answers)
        return self

    def __exit__(self, *failure):
        if self._server is not None:
            self._server.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def pid(self):
        return self._server.pid

    def create(self, name):
        """Create a database; returns its URL."""
        self.execute(self.creating.format(name))
        return self.url(name)

    def drop(self, name):
        self.execute(self.dropping.format(name))

    def _answers(self):
        try:
            self.execute('SELECT 1')
        except self.error:
            return False
        return True

    @property
    @abc.abstractmethod
    def error(self):
        """The class of the errors of its driver."""

    @abc.abstractmethod
    def installed(self):
        """Prepare its folder; returns the command that starts the server, and
        options of its process."""

    @abc.abstractmethod
    def url(self, name):
        """The SQLAlchemy URL of a database."""

    @abc.abstractmethod
    def execute(self, statement):
        """Run a statement as the administrator, outside of any database."""
