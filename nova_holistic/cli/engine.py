# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic-engine``: plans groups, as a service."""

from collections.abc import Iterator, Sequence
import contextlib
import importlib.metadata
import logging as stdlib_logging
import os
import signal
import socket
import sys

from oslo_config import cfg
from oslo_log import log as logging

from nova_holistic.cli.components import engine_components
from nova_holistic.cli import exits
from nova_holistic import conf as options
from nova_holistic.conf import log_setup, services, unreadable_files
from nova_holistic import exceptions
from nova_holistic.messaging.transport import (
    get_nova_notification_transport, get_transport)
from nova_holistic.service.service import EngineService
from nova_holistic import supported
from nova_holistic.table import startup_check

PROGRAM = 'nova-holistic-engine'
STOPPING = (signal.SIGTERM, signal.SIGINT)
"""Signals that stop the engine."""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit code.

    After a second signal, return unfinished tasks to the table immediately.
    SIGHUP has no effect.
    """
    try:
        conf = _configured(argv)
        options.check_values(conf)
        supported.warn_of_python()
        startup_check.check_schema_usable(conf)
        service = engine_components.engine(
            conf, get_transport(conf),
            get_nova_notification_transport(conf)
            if conf.nova_notifications.enabled else None)
    except (cfg.Error, exceptions.HolisticError) as error:
        line = ' '.join(str(error).split())
        print(f'{PROGRAM}: {line}', file=sys.stderr)
        return exits.BAD_INPUT
    if not _serve(service):
        # A thread may be inside the solver or the database driver, which
        # cannot be interrupted. The exit does not wait for it.
        stdlib_logging.shutdown()
        os._exit(exits.GOOD)
    return exits.GOOD


def _configured(argv: Sequence[str] | None) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    logging.register_options(conf)
    options.register_opts(conf)
    services.register_opts(conf)
    with unreadable_files.as_configuration_errors():
        conf(sys.argv[1:] if argv is None else list(argv),
             project='nova-holistic', prog=PROGRAM,
             version=importlib.metadata.version('nova_holistic'))
    log_setup.set_up(conf)
    return conf


def _serve(service: EngineService) -> bool:
    """Whether no thread is left after the engine has stopped."""
    received: list[int] = []

    def stop(number: int, _frame: object) -> None:
        if received:
            service.stop_immediately()
        received.append(number)

    with _arriving_signals() as numbers:
        for number in STOPPING:
            signal.signal(number, stop)
        # By default, SIGHUP would end the process in the middle of its tasks,
        # and systemd would not start it again.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        service.start()
        while numbers.recv(1)[0] not in STOPPING:
            pass
    return service.stop()


@contextlib.contextmanager
def _arriving_signals() -> Iterator[socket.socket]:
    """A socket from which the numbers of all signals can be read.

    Python calls a handler in the main thread, and only when this thread
    executes Python code. If a signal arrives immediately before the thread
    waits for a lock or a queue, the handler is called after the wait. The
    number of the signal is written to the socket immediately.
    """
    numbers, written = socket.socketpair()
    with numbers, written:
        written.setblocking(False)
        before = signal.set_wakeup_fd(written.fileno())
        try:
            yield numbers
        finally:
            signal.set_wakeup_fd(before)
