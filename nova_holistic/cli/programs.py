# SPDX-License-Identifier: Apache-2.0
"""Entry points of the programs that need an extra of the package: without it,
each of them names the extra and exits with 2."""

import importlib
import sys

from nova_holistic.cli import exits


def engine() -> int | None:
    """Run ``nova-holistic-engine``; return its exit code."""
    return _run('engine', 'engine')


def manage() -> int | None:
    """Run ``nova-holistic-manage``; return its exit code."""
    return _run('manage', 'engine')


def scheduler() -> int | None:
    """Run ``nova-holistic-scheduler``; return its exit code."""
    try:
        return _run('scheduler', 'nova')
    except Exception as error:
        # Nova reads the files while it is imported. It may replace modules of
        # Python before that, so oslo.config is not imported earlier.
        files = importlib.import_module('nova_holistic.conf.unreadable_files')
        message = files.message(error)
        if message is None:
            raise
        print(f'nova-holistic-scheduler: {message}', file=sys.stderr)
        return exits.BAD_INPUT


def status() -> int | None:
    """Run ``nova-holistic-status``; return its exit code."""
    return _run('status', 'engine')


def _run(program: str, extra: str) -> int | None:
    try:
        # Commands import modules when they run, too.
        return importlib.import_module(f'nova_holistic.cli.{program}').main()
    except ModuleNotFoundError as error:
        print(f'nova-holistic-{program}: {error}; install it with: '
              f"pip install 'nova_holistic[{extra}]'", file=sys.stderr)
        return exits.BAD_INPUT
