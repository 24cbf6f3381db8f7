# SPDX-License-Identifier: Apache-2.0
"""Settings of all tests. No import here selects the threading mode."""

import faulthandler
import os
import sys
import threading

import pytest

from tests.effort import load_profile
from tools import garbage

_STATUS = pytest.StashKey[int]()
_EXIT_SECONDS = 120
"""Seconds that the process waits for threads after the last test."""

load_profile()
# The imports of Nova's modules create many objects.
garbage.search_rarely()


def pytest_addoption(parser):
    parser.addoption(
        '--effort', choices=('short', 'full'), default='short',
        help='size of the tests on a whole cloud and of the tests of '
             'crashes (default: %(default)s)')


def pytest_collection_finish():
    garbage.search_less()


def pytest_sessionfinish(session, exitstatus):
    session.config.stash[_STATUS] = int(exitstatus)


def pytest_unconfigure(config):
    """End a process that a thread would keep running: print the stack of each
    thread, and exit with the outcome of the tests."""
    def end():
        faulthandler.dump_traceback(sys.__stderr__)
        os._exit(config.stash.get(_STATUS, 1))

    watch = threading.Timer(_EXIT_SECONDS, end)
    watch.daemon = True
    watch.start()
    # This also works if no Python code can run.
    faulthandler.dump_traceback_later(
        2 * _EXIT_SECONDS, exit=True, file=sys.__stderr__)
