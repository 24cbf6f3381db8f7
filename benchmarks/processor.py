# SPDX-License-Identifier: Apache-2.0
"""Processor time of processes that benchmarks have started. Unlike wall clock,
it hardly depends on other work of the machine."""

import os
import pathlib

TICK = os.sysconf('SC_CLK_TCK')
PAGE = os.sysconf('SC_PAGE_SIZE')


def seconds(leader):
    """CPU seconds of a process group so far, by its leader. Ended children
    count if their parents have waited for them."""
    return seconds_of(members([leader])[leader])


def resident(leader):
    """MiB of memory of a process group, by its leader. Shared pages count once
    for each process."""
    return resident_of(members([leader])[leader])


def resident_of(pids):
    """MiB of memory of the processes that exist."""
    return sum(int(facts[21])
               for facts in map(_facts, pids) if facts) * PAGE / 2**20


def members(leaders):
    """Numbers of the processes in the group of each leader."""
    pids = {leader: [] for leader in leaders}
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        facts = _facts(folder.name)
        if facts and int(facts[2]) in pids:
            pids[int(facts[2])].append(int(folder.name))
    return pids


def seconds_of(pids):
    """CPU seconds so far of the processes that exist, including ended children
    for which they have waited."""
    return sum(sum(map(int, facts[11:15]))
               for facts in map(_facts, pids) if facts) / TICK


def _facts(pid):
    """What follows the name in /proc/PID/stat; None if the process has ended.
    """
    try:
        with open(f'/proc/{pid}/stat') as stat:
            # proc(5): the name, in parentheses, may have spaces in it.
            return stat.read().rpartition(')')[2].split()
    except OSError:
        return None
