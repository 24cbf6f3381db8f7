# SPDX-License-Identifier: Apache-2.0
"""The beginning and the end of a process that another process has forked.

Forks share the memory of a process that has imported their modules.
"""

from collections.abc import Callable
import os
import sys
from typing import NoReturn


def run_and_exit(run: Callable[[], object]) -> NoReturn:
    """Call a function, and end the current process as ``sys.exit(run())`` ends
    a script. No code of the process that forked runs afterwards.

    :param run: returns the exit status, or None for 0; a text is written to
        standard error, and the exit status is 1
    """
    status = 1
    try:
        sys.exit(run())
    except SystemExit as end:
        status = _status(end.code)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


def _status(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xff
    print(code, file=sys.stderr)
    return 1
