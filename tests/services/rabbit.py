# SPDX-License-Identifier: Apache-2.0
"""A RabbitMQ of the tests."""

import os
import pathlib
import shutil
import signal
import tempfile

from tests.services.background_processes import answers, Process, wait_for
from tools.cloud.ports import free_ports

# The script in PATH requires a certain user and its folders.
SCRIPTS = '/usr/lib/rabbitmq/bin'


class RabbitBroker:
    """rabbitmq-server on loopback, with its own ports, port mapper and data,
    run by the user of the tests.

    :ivar url: value of ``transport_url``
    """

    def __init__(self, directory=None):
        # The path must be short, and pytest's folders may have long names.
        self._own = directory is None
        self.directory = pathlib.Path(
            directory or tempfile.mkdtemp(prefix='rabbit-'))
        self._port, self._distribution, self._epmd = free_ports(3)
        self.url = f'rabbit://guest:guest@127.0.0.1:{self._port}/'
        self._server = None
        self._mapper = None

    def __enter__(self):
        self._mapper = Process(
            ['epmd', '-address', '127.0.0.1', '-port', self._epmd],
            self.directory / 'epmd.log')
        self._mapper.wait_until('epmd', lambda: answers(self._epmd))
        self.start()
        return self

    def __exit__(self, *failure):
        for each in (self._server, self._mapper):
            if each is not None:
                each.kill()
        if self._own:
            shutil.rmtree(self.directory, ignore_errors=True)

    def start(self):
        """Start the broker, and wait until it accepts connections."""
        self._server = Process(
            [f'{SCRIPTS}/rabbitmq-server'], self.directory / 'rabbit.log',
            env=environment(self.directory, self._port, self._distribution,
                            self._epmd), cwd=self.directory)
        self._server.wait_until('RabbitMQ', lambda: (
            'Server startup complete' in self._server.said()
            and answers(self._port)))

    def stop(self):
        """Kill the broker, so that clients get no notice."""
        self._server.kill()
        wait_for('RabbitMQ gone', lambda: not answers(self._port))
        # Otherwise the log of the ended process would show that the next
        # process is ready.
        (self.directory / 'rabbit.log').write_text('')

    def end(self):
        """Stop the broker as an administrator does."""
        self._server.send(signal.SIGTERM)
        wait_for('RabbitMQ gone', lambda: not answers(self._port))
        self.stop()

    def restart(self):
        self.stop()
        self.start()


def environment(directory, port, distribution, epmd):
    """The environment of rabbitmq-server. All its files are below the
    directory.

    :param distribution: port for other nodes, which do not exist
    :param epmd: port of a running port mapper
    """
    configuration = directory / 'rabbitmq.conf'
    configuration.write_text(
        f'listeners.tcp.1 = 127.0.0.1:{port}\n'
        'loopback_users = none\n'
        'log.console = true\n')
    (directory / 'plugins').write_text('[].')
    return {
        'PATH': os.environ['PATH'], 'LANG': 'C.UTF-8',
        'HOME': str(directory),
        'ERL_EPMD_PORT': str(epmd),
        'ERL_EPMD_ADDRESS': '127.0.0.1',
        'RABBITMQ_NODENAME': f'tests{port}@localhost',
        'RABBITMQ_DIST_PORT': str(distribution),
        'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS':
            '-kernel inet_dist_use_interface {127,0,0,1} +S 1:1',
        'RABBITMQ_CONFIG_FILE': str(configuration),
        'RABBITMQ_ENABLED_PLUGINS_FILE': str(directory / 'plugins'),
        'RABBITMQ_MNESIA_BASE': str(directory / 'mnesia'),
        'RABBITMQ_LOG_BASE': str(directory),
        'RABBITMQ_LOGS': '-',
        'RABBITMQ_PID_FILE': str(directory / 'rabbit.pid'),
        'RABBITMQ_GENERATED_CONFIG_DIR': str(directory / 'generated'),
    }
