# SPDX-License-Identifier: Apache-2.0
"""``nova-holistic``: every command is an entry point in ``nova_holistic.cli``.

Every error ends as a line on standard error, or as one line per mistake of a
document, and an exit code; only ``--debug`` shows a traceback.
"""

import argparse
from collections.abc import Sequence
import importlib.metadata
import logging
import os
import sys

from cliff.app import App
from cliff.commandmanager import CommandManager

from nova_holistic.cli.complete import Complete
from nova_holistic.cli import exits, interrupt
from nova_holistic import exceptions
from nova_holistic.picture.text_fitting import printable

_SIGPIPE = 141
_STOPPED = (type(None), BrokenPipeError, KeyboardInterrupt)


class _Lines(logging.Formatter):
    """An error as printable lines, one per mistake of a document."""

    def format(self, record: logging.LogRecord) -> str:
        lines = [printable(' '.join(line.split()))
                 for line in _messages(record).split('\n')]
        if record.exc_info:
            return '\n'.join((self.formatException(record.exc_info), *lines))
        return '\n'.join(f'nova-holistic: {line}' for line in lines if line)


def _messages(record: logging.LogRecord) -> str:
    error = record.msg
    if not isinstance(error, Exception):
        return record.getMessage()
    if isinstance(error, exceptions.HolisticError):
        return str(error)
    if isinstance(error, OSError):
        return f'{error.filename or "output"}: {error.strerror or error}'
    return (f'internal error: {type(error).__name__}: {error} '
            '(--debug shows where)')


class Shell(App):
    """Finds the command and maps its errors to exit codes."""

    NAME = 'nova-holistic'
    LOG = logging.getLogger(__name__)

    def __init__(self):
        super().__init__(
            'Plan groups of servers for an OpenStack cloud, from files.',
            importlib.metadata.version('nova_holistic'),
            CommandManager(__package__), deferred_help=True)
        # Replaces the command of cliff.
        self.command_manager.add_command('complete', Complete)
        self.failure: BaseException | None = None

    def build_option_parser(
            self, description: str | None, version: str | None,
            argparse_kwargs: dict | None = None) -> argparse.ArgumentParser:
        """Only the options that every command has; cliff adds options for
        interactive use and for log files."""
        parser = argparse.ArgumentParser(
            prog=self.NAME, description=description, add_help=False,
            allow_abbrev=False,
            usage='%(prog)s [-h] [--version] [--debug] COMMAND ...')
        parser.add_argument('-h', '--help', dest='deferred_help',
                            action='store_true', help='show this help and '
                                                      'exit')
        parser.add_argument('--version', action='version',
                            version=f'{self.NAME} {version}')
        parser.add_argument('--debug', action='store_true',
                            help='show tracebacks of errors')
        return parser

    def configure_logging(self) -> None:
        """Log errors of this project only, so that the output stays what a
        command prints."""
        handler = logging.StreamHandler(self.stderr)
        handler.setFormatter(_Lines())
        self.LOG.handlers = [handler]
        self.LOG.propagate = False

    def interact(self) -> None:
        """The interactive mode is not supported."""
        self.parser.error('the command is missing; nova-holistic --help '
                          'lists the commands')

    def run_subcommand(self, argv: list[str]) -> int:
        words = argv[1:] if argv[0] == 'help' and argv[1:] else argv
        try:
            self.command_manager.find_command(words)
        except ValueError:
            self.parser.error(f'unknown command {words[0]!r}; '
                              'nova-holistic --help lists the commands')
        except ImportError as error:
            raise exceptions.HolisticError(
                f'{words[0]}: {error}; is an extra of nova_holistic missing?'
            ) from error
        return super().run_subcommand(argv)

    def clean_up(self, cmd, result: int, err: BaseException | None) -> None:
        self.failure = err


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    _prepare_streams()
    shell = Shell()
    try:
        code = _run(shell, sys.argv[1:] if argv is None else list(argv))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has closed the pipe: ``nova-holistic plan ... | head``.
        _forget_output()
        return _SIGPIPE
    except KeyboardInterrupt:
        return interrupt.SIGINT
    except OSError as error:
        _forget_output()
        shell.configure_logging()
        shell.LOG.error(error)
        return exits.BAD_INPUT


def _run(shell: Shell, argv: list[str]) -> int:
    try:
        code = shell.run(argv)
    except SystemExit as stop:
        return stop.code or 0
    except exceptions.HolisticError as error:
        shell.LOG.error(error)
        return exits.BAD_INPUT
    if isinstance(shell.failure, _STOPPED):
        return code
    if isinstance(shell.failure, exceptions.HolisticError | OSError):
        return exits.BAD_INPUT
    return exits.INTERNAL


def _prepare_streams() -> None:
    """Replace closed standard streams, and let both escape characters that
    their encoding lacks."""
    for name in ('stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, 'w'))
        getattr(sys, name).reconfigure(errors='backslashreplace')


def _forget_output() -> None:
    """Keep the interpreter from writing to a closed stream when it exits."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


if __name__ == '__main__':
    sys.exit(main())
