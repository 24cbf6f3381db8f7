# SPDX-License-Identifier: Apache-2.0
"""The run of one seed, from an empty cloud to an empty cloud."""

from collections import Counter
from concurrent import futures
from dataclasses import dataclass, field
import re
import threading
import time

from tests.chaos.convergence import Operator
from tests.chaos.faults import Faults
from tests.chaos.invariants import left_by_nova
from tests.chaos.operations import Fault, Sequence
from tests.chaos.outcomes import Outcome, outcome
from tests.chaos.user_operations import Users
from tools.cloud.cloud import Cloud
from tools.cloud.holistic import ENGINES
from tools.cloud.waiting import WaitTimeout

USERS = 6
"""Number of users that work at the same time."""
SHORTEST, LONGEST = 0.5, 5.0
"""Minimum duration of a fault in seconds."""
AFTER_FAILURE = 1.0
"""Seconds that a user waits after a service did not respond."""
_REPAIR = re.compile(r'Reconciled: (\w+): (\d+)')


@dataclass
class Report:
    """The result of a run.

    :ivar outcomes: numbers of operations by kind and outcome
    :ivar faults: numbers of faults by kind
    :ivar answers: numbers of refusals and failures by their texts
    :ivar repairs: numbers of the reconciler's repairs by case
    :ivar stuck: number of servers whose build, move or deletion Nova did not
        finish
    :ivar misallocated: number of servers that an interrupted move left in
        ERROR or with their allocation on another host
    :ivar restarts: number of restarts of a nova-compute by the operator
    :ivar leftovers: number of consumers with orphaned allocations that Nova
        has left
    :ivar violations: violations of invariants
    :ivar seconds: duration of the operations, and of the time until the cloud
        was idle and empty
    """

    seed: int
    outcomes: Counter = field(default_factory=Counter)
    faults: Counter = field(default_factory=Counter)
    answers: Counter = field(default_factory=Counter)
    repairs: Counter = field(default_factory=Counter)
    stuck: int = 0
    misallocated: int = 0
    restarts: int = 0
    leftovers: int = 0
    violations: list[str] = field(default_factory=list)
    seconds: tuple[float, float] = (0.0, 0.0)

    def total(self, *outcomes: Outcome) -> int:
        """The number of operations with one of these outcomes."""
        return sum(count for (_, each), count in self.outcomes.items()
                   if each in outcomes)


class Run:
    """Several users work through the sequence. Each carries out the next
    operation, while faults begin and end at their numbers."""

    def __init__(self, cloud: Cloud, planned: Sequence):
        self.report = Report(planned.seed)
        self._planned = planned
        self._faults = Faults(cloud)
        self._users = Users(cloud, planned, self._faults)
        self._lock = threading.Lock()
        self._next = 0

    def run(self) -> None:
        """Wait until all operations and faults have ended. An error of a user
        is raised after that."""
        with futures.ThreadPoolExecutor(USERS) as pool:
            users = [pool.submit(self._work) for _ in range(USERS)]
            self._fail(users)
        for each in users:
            each.result()

    def _work(self) -> None:
        while True:
            with self._lock:
                if self._next == len(self._planned.operations):
                    return
                operation = self._planned.operations[self._next]
                self._next += 1
                self._users.begin(operation)
            answers: Counter = Counter()
            ended = outcome(lambda: self._users.perform(operation), answers)
            with self._lock:
                self.report.outcomes[operation.kind, ended] += 1
                self.report.answers.update(answers)
                self._users.end(operation)
            if ended == Outcome.FAILED:
                time.sleep(AFTER_FAILURE)

    def _fail(self, users: list[futures.Future]) -> None:
        """Begin and end the faults until all users have ended. A fault at an
        operation that the users do not reach never begins."""
        waiting = list(self._planned.faults)
        begun: list[tuple[float, Fault]] = []
        while begun or waiting and (
                waiting[0].begin <= self._next
                or not all(each.done() for each in users)):
            at, now = self._next, time.monotonic()
            for since, fault in [*begun]:
                lasted = now - since
                if lasted > LONGEST or (
                        lasted > SHORTEST and at >= fault.end):
                    self._faults.end(fault)
                    begun.remove((since, fault))
            while waiting and waiting[0].begin <= at:
                fault = waiting.pop(0)
                self._faults.begin(fault)
                self.report.faults[fault.kind] += 1
                begun.append((time.monotonic(), fault))
            time.sleep(0.05)


def run(cloud: Cloud, planned: Sequence) -> Report:
    """Carry out a sequence on a running cloud. The cloud is empty afterwards,
    unless an invariant is violated."""
    operator = Operator(cloud)
    operator.clear()
    begin = time.monotonic()
    logs = {name: _size(cloud, name) for name in ENGINES}
    chaos = Run(cloud, planned)
    chaos.run()
    report = chaos.report
    performed = time.monotonic()
    try:
        _settle(cloud, operator, report)
    except WaitTimeout as error:
        report.violations.append(f'the cloud does not settle: {error}')
    report.restarts = operator.restarts
    report.seconds = (performed - begin, time.monotonic() - performed)
    for name, size in logs.items():
        with open(cloud.layout.log(name), errors='replace') as log:
            log.seek(size)
            for case, count in _REPAIR.findall(log.read()):
                report.repairs[case] += int(count)
    return report


def _settle(cloud: Cloud, operator: Operator, report: Report) -> None:
    """
    :raises WaitTimeout: Nova's work does not end, or the cloud cannot be
        emptied
    """
    operator.put_hosts_back()
    unfinished = operator.let_servers_rest()
    report.stuck, report.misallocated = (
        unfinished.stuck, unfinished.misallocated)
    report.violations = operator.violations(rack_of(cloud))
    report.leftovers = len(left_by_nova(operator.facts()))
    if not report.violations:
        operator.clear()


def rack_of(cloud: Cloud) -> dict[str, int]:
    """The rack of each host."""
    return {host: number // cloud.layout.rack
            for number, host in enumerate(cloud.layout.host_names())}


def _size(cloud: Cloud, name: str) -> int:
    return cloud.layout.log(name).stat().st_size
