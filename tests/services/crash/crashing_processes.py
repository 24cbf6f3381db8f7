# SPDX-License-Identifier: Apache-2.0
"""Processes that do one thing each, and that may be killed at a crash point.

They are forks of one process that has imported all that they need, so they
start in milliseconds. The crash point is armed as an operator of tests would
do it: by the environment variable, which the module reads again.
"""

import importlib
import multiprocessing
import os
import signal
import sys

from nova_holistic import crash_points
from tests.services.crash.parts import Parts
from tests.services.crash import preloaded_modules

WAIT_SECONDS = 300
"""Seconds that one process may take."""

_context = multiprocessing.get_context('forkserver')
_context.set_forkserver_preload(['pytest', preloaded_modules.__name__])


def exit_code(point, site, operation, arguments):
    """Do something in a process of its own.

    :param point: crash point at which it is killed; None is nowhere
    :param operation: called with Parts and the arguments
    :returns: negative for a signal
    """
    process = _context.Process(
        target=_live, args=(point, site, operation, arguments))
    process.start()
    process.join(WAIT_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f'{operation.__name__} takes too long')
    return process.exitcode


def was_killed(code):
    return code == -signal.SIGKILL


def _live(point, site, operation, arguments):
    sys.path[:] = preloaded_modules.PATH
    if point is not None:
        os.environ[crash_points.VARIABLE] = point
    importlib.reload(crash_points)
    operation(Parts(site), *arguments)
