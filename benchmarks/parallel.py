# SPDX-License-Identifier: Apache-2.0
"""Plans per second of one planner, of two in parallel, and of two threads of
one process, and the speed of two processes that only count.

Planners are processes, like engines. They are forks of a process with the
snapshot. They start together; the rate is the number of plans over the time
until the last planner ends. The machine is measured in the same round: if two
counting processes do only 1.6 times the work of one, two planners cannot do
more.
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

COUNTS = 5_000_000
"""Final count of a counting process, which needs tenths of a second."""

FORK = multiprocessing.get_context('fork')
WAIT_SECONDS = 600.0
"""Timeout in seconds of the response of a planner."""


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
    """A number of pieces of work that each of some parallel workers does."""

    def __init__(self, pieces):
        self.pieces = pieces

    def piece(self, number):
        raise NotImplementedError

    def shift(self, together, report, clock):
        # Work that is done only once is not measured.
        self.piece(0)
        together.wait(WAIT_SECONDS)
        started, busy = time.perf_counter(), clock()
        for number in range(self.pieces):
            self.piece(number)
        report(Shift(started, time.perf_counter(), clock() - busy,
                     _private_memory()))


class Counting(Work):
    def piece(self, number):
        for _ in range(COUNTS):
            pass


class Planning(Work):
    """Plans of one cloud, each of a group of another size."""

    def __init__(self, arguments):
        super().__init__(arguments.plans)
        self._snapshot = cloud(arguments.hosts, arguments.utilisation / 100, 0)
        self._members = arguments.members
        self._objective = arguments.objective
        self.piece(0)

    def piece(self, number):
        run(shop(self._members + LEAVES * number), self._snapshot,
            self._objective, 60.0)


def processes(work, number):
    """The shifts of this number of planners, each in a separate process."""
    together, queue = FORK.Barrier(number), FORK.SimpleQueue()
    planners = [FORK.Process(target=work.shift, args=(
        together, queue.put, time.process_time)) for _ in range(number)]
    for each in planners:
        each.start()
    for each in planners:
        each.join(WAIT_SECONDS)
        if each.exitcode:
            raise SystemExit('a planner failed')
    return [queue.get() for _ in planners]


def threads(work, number):
    """The shifts of this number of planners, as threads of one process."""
    together, shifts = threading.Barrier(number), []
    planners = [threading.Thread(target=work.shift, args=(
        together, shifts.append, time.thread_time)) for _ in range(number)]
    for each in planners:
        each.start()
    for each in planners:
        each.join()
    return shifts


class Ratio:
    """The work of two, as a multiple of the work of one, in each round."""

    def __init__(self, work, two=processes):
        self.work, self._two = work, two
        self.one, self.both = [], []

    def round(self, one=None):
        """:param one: results of a single process, if they are known"""
        self.one.append(one or processes(self.work, 1))
        self.both.append(self._two(self.work, 2))

    def rates(self, last=None):
        """Pieces of work a second of one and of two, and the multiple; the
        medians of all rounds, or those of the last."""
        pairs = [(self._rate(one), self._rate(both))
                 for one, both in zip(self.one, self.both)][last:]
        return (*(statistics.median(each) for each in zip(*pairs)),
                statistics.median(both / one for one, both in pairs))

    def _rate(self, shifts):
        return self.work.pieces * len(shifts) / (
            max(each.ended for each in shifts)
            - min(each.started for each in shifts))

    @staticmethod
    def shifts(rounds):
        return [shift for each in rounds for shift in each]


def main():
    arguments = _parser().parse_args()
    machine = Ratio(Counting(arguments.plans))
    planners = Ratio(Planning(arguments))
    engine = Ratio(planners.work, threads)
    print(f'{arguments.members} members on {arguments.hosts} hosts, '
          f'{arguments.objective}; plans/s, and times those of one\n\n'
          f'{"round":<7}{"machine":>8}{"one":>8}{"two":>8}{"times":>7}'
          f'{"of machine":>12}{"threads":>9}{"times":>7}', flush=True)
    for number in range(1, arguments.rounds + 1):
        # In turn, so that other programs affect all of them equally.
        machine.round()
        planners.round()
        engine.round(planners.one[-1])
        _tell(str(number), machine, planners, engine, -1)
    _tell('median', machine, planners, engine)
    _tell_costs(planners, engine)


def _tell(name, machine, planners, engine, last=None):
    gives = machine.rates(last)[2]
    one, two, times = planners.rates(last)
    _, both, beside = engine.rates(last)
    print(f'{name:<7}{gives:>8.2f}{one:>8.2f}{two:>8.2f}{times:>7.2f}'
          f'{100 * times / gives:>10.0f} %{both:>9.2f}{beside:>7.2f}',
          flush=True)


def _tell_costs(planners, engine):
    print(f'\n{"planners":<15}{"CPU s/plan":>10}{"own MiB":>9}')
    for name, rounds in (('one process', planners.one),
                         ('two processes', planners.both),
                         ('two threads', engine.both)):
        shifts = Ratio.shifts(rounds)
        busy = statistics.median(each.busy for each in shifts)
        own = statistics.median(each.own for each in shifts)
        print(f'{name:<15}{busy / planners.work.pieces:>10.3f}{own:>9.0f}')


def _private_memory():
    """MiB of this process that no other one has."""
    with open('/proc/self/smaps_rollup') as file:
        return sum(int(size) for size in re.findall(
            r'^Private_\w+:\s+(\d+) kB', file.read(), re.MULTILINE)) / 1024


def _parser():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=10_000)
    parser.add_argument('--members', type=int, default=1000)
    parser.add_argument('--objective', default='spread')
    parser.add_argument('--utilisation', type=int, default=75)
    parser.add_argument('--plans', type=int, default=3,
                        help='plans of each planner in a round')
    parser.add_argument('--rounds', type=int, default=3)
    return parser


if __name__ == '__main__':
    main()
