# SPDX-License-Identifier: Apache-2.0
"""The lines and functions of the project that a call executes."""

import collections
import sys


def executed(work, event='line', files=('',)):
    """Number of executions of each line, or of calls of each function, by
    file, function and line (0 for calls).

    :param event: ``line`` or ``call``
    :param files: ends of the names of the files that are counted
    """
    counts = collections.Counter()

    def note(frame, kind, _argument):
        code = frame.f_code
        if '/nova_holistic/' not in code.co_filename or (
                not code.co_filename.endswith(files)):
            return None
        if kind == event:
            counts[code.co_filename, code.co_name,
                   frame.f_lineno if kind == 'line' else 0] += 1
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(before)
    return counts
