# SPDX-License-Identifier: Apache-2.0
"""Processes that carry out one operation and may be killed at a crash point.

They are forks of one process that has imported all modules that they need, so
they start in milliseconds. The environment variable of the crash point is set
as an operator would set it, and the module reads it again.
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
"""Timeout of one process in seconds."""

_context = multiprocessing.get_context('forkserver')
_context.set_forkserver_preload(['pytest', preloaded_modules.__name__])


def exit_code(point, site, operation, arguments):
    """Carry out an operation in another process; returns its exit code.

    :param point: crash point at which the process is killed; None if it is not
        killed
    :param operation: called with Parts and the arguments
    :returns: a negative number for a signal
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
