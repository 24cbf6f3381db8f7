# SPDX-License-Identifier: Apache-2.0
"""The lines and functions of the project that a call executes."""

import collections
import os
import pathlib
import sys

import nova_holistic

PACKAGE = str(pathlib.Path(nova_holistic.__file__).parent) + os.sep


def executed(work, event='line', files=('',)):
    """Number of executions of each line, or of calls of each function, by
    file, function and line (0 for calls).

    :param event: ``line`` or ``call``
    :param files: ends of the names of the files that are counted
    """
    counts = collections.Counter()

    def count(frame, kind, _argument):
        if kind == event:
            code = frame.f_code
            counts[code.co_filename, code.co_name,
                   frame.f_lineno if kind == 'line' else 0] += 1
        return count

    def enter(frame, kind, argument):
        name = frame.f_code.co_filename
        if not (name.startswith(PACKAGE) and name.endswith(files)):
            return None
        return count(frame, kind, argument)

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        work()
    finally:
        sys.settrace(before)
    return counts
