# SPDX-License-Identifier: Apache-2.0
"""Processor time of processes that benchmarks have started: unlike the wall
clock it hardly depends on what else the machine does."""

import os
import pathlib

TICK = os.sysconf('SC_CLK_TCK')


def seconds(leader):
    """CPU seconds, so far, of a process that leads a group and of all others
    in it that there are, with those that they have waited for."""
    found = 0
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            stat = (folder / 'stat').read_text()
        except OSError:
            # It has just ended.
            continue
        # proc(5): the name, in parentheses, may have spaces in it.
        facts = stat.rpartition(')')[2].split()
        if int(facts[2]) == leader:
            found += sum(map(int, facts[11:15]))
    return found / TICK
