# SPDX-License-Identifier: Apache-2.0
"""Plans a second: of one planner, of two at once, and of two threads of one.

Planners are processes, as engines are, forked from one that has the snapshot.
They start together; the rate is all plans over the time to the last one's end.
"""

import argparse
from dataclasses import dataclass
import multiprocessing
import re
import statistics
import threading
import time

from clouds import cloud
from groups import LEAVES, shop
from planner import run

CASES = ((2_000, 200), (10_000, 1000))
FORK = multiprocessing.get_context('fork')
PATIENCE = 600.0
"""Seconds after which a planner that says nothing is given up."""


@dataclass(frozen=True, slots=True)
class Shift:
    """What one planner did.

    :ivar busy: seconds of a processor
    :ivar own: MiB that it shares with no other process
    """

    started: float
    ended: float
    busy: float
    own: float


class Work:
    """So many plans of one cloud, each of a group of another size."""

    def __init__(self, arguments, hosts, members):
        self._snapshot = cloud(hosts, arguments.utilisation / 100, 0)
        self._members = members
        self._objective = arguments.objective
        self.plans = arguments.plans
        self._plan(0)

    def _plan(self, number):
        run(shop(self._members + LEAVES * number), self._snapshot,
            self._objective, 60.0)

    def shift(self, together, told, clock):
        # What a planner does but once is left out.
        self._plan(0)
        together.wait(PATIENCE)
        started, busy = time.perf_counter(), clock()
        for number in range(self.plans):
            self._plan(number)
        told(Shift(started, time.perf_counter(), clock() - busy, _own()))


def processes(work, number):
    """What so many planners do, each in a process of its own."""
    together, queue = FORK.Barrier(number), FORK.SimpleQueue()
    planners = [FORK.Process(target=work.shift, args=(
        together, queue.put, time.process_time)) for _ in range(number)]
    for each in planners:
        each.start()
    for each in planners:
        each.join(PATIENCE)
        if each.exitcode:
            raise SystemExit('a planner failed')
    return [queue.get() for _ in planners]


def threads(work, number):
    """The same in one process, one thread each."""
    together, shifts = threading.Barrier(number), []
    planners = [threading.Thread(target=work.shift, args=(
        together, shifts.append, time.thread_time)) for _ in range(number)]
    for each in planners:
        each.start()
    for each in planners:
        each.join()
    return shifts


HOW = (('one process', processes, 1), ('two processes', processes, 2),
       ('two threads', threads, 2))


def main():
    arguments = _parser().parse_args()
    print(f'{"hosts":>6} {"members":>7} {"planners":<14} {"rounds":>6} '
          f'{"plans/s":>8} {"min":>6} {"max":>6} {"times":>6} '
          f'{"min":>5} {"max":>5} {"CPU s/plan":>10} {"own MiB":>8}')
    for hosts, members in CASES:
        _case(arguments, hosts, members)


def _case(arguments, hosts, members):
    work = Work(arguments, hosts, members)
    # In turn, so that whatever else is going on meets all of them.
    rounds = [[make(work, number) for _, make, number in HOW]
              for _ in range(arguments.rounds)]
    base = [_rate(work, each[0]) for each in rounds]
    for (name, _, _), made in zip(HOW, zip(*rounds)):
        rates = [_rate(work, each) for each in made]
        times = [rate / first for rate, first in zip(rates, base)]
        busy = [shift.busy / work.plans for each in made for shift in each]
        own = [shift.own for each in made for shift in each]
        print(f'{hosts:>6} {members:>7} {name:<14} {len(rates):>6} '
              f'{statistics.median(rates):>8.2f} {min(rates):>6.2f} '
              f'{max(rates):>6.2f} {statistics.median(times):>6.2f} '
              f'{min(times):>5.2f} {max(times):>5.2f} '
              f'{statistics.median(busy):>10.3f} '
              f'{statistics.median(own):>8.0f}', flush=True)


def _rate(work, shifts):
    return work.plans * len(shifts) / (
        max(each.ended for each in shifts)
        - min(each.started for each in shifts))


def _own():
    """MiB of this process that no other one has."""
    with open('/proc/self/smaps_rollup') as file:
        return sum(int(size) for size in re.findall(
            r'^Private_\w+:\s+(\d+) kB', file.read(), re.MULTILINE)) / 1024


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--objective', default='spread')
    parser.add_argument('--utilisation', type=int, default=75)
    parser.add_argument('--plans', type=int, default=6,
                        help='of each planner in a round')
    parser.add_argument('--rounds', type=int, default=5)
    return parser


if __name__ == '__main__':
    main()
