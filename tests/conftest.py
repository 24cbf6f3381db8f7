# SPDX-License-Identifier: Apache-2.0
"""Settings of all tests. No import here selects the threading mode."""

import faulthandler
import gc
import os
import sys
import threading

import pytest

from tests.effort import load_profile

_ALLOCATIONS = 50_000
_STATUS = pytest.StashKey[int]()
_EXIT_SECONDS = 120
"""Seconds that the process waits for threads after the last test."""

load_profile()


def pytest_addoption(parser):
    parser.addoption(
        '--effort', choices=('short', 'full'), default='short',
        help='size of the tests on a whole cloud and of the tests of '
             'crashes (default: %(default)s)')


def pytest_collection_finish():
    """Freeze the objects of Nova's modules and of the tests. Otherwise the
    garbage collector would use a tenth of the time to search them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS, 10, 10)


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
