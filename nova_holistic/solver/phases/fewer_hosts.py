# SPDX-License-Identifier: Apache-2.0
"""Plans with fewer hosts, by integer programs of all members of many hosts.

A host becomes empty only if all of its members find other hosts that their
policies allow. Ruin and recreate moves few members, and places one after
another. A program of all members, or of a few hundred of them, of their hosts
and of some further ones places them together.
"""

from collections.abc import Callable, Collection, Mapping
import contextlib
from dataclasses import replace
import random

import numpy as np

from nova_holistic.solver.construct.roomy_hosts import roomy_hosts
from nova_holistic.solver.improve.neighbourhood import PlanView
from nova_holistic.solver.improve.rows_by_place import RowsByPlace
from nova_holistic.solver.improve.step import Outcome, Part, step, StepContext
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.problem.deadline import TooLarge
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.subproblem import Subproblem
from nova_holistic.solver.ruin_recreate.part_search import ruin_and_recreate
from nova_holistic.solver.settings import DEFAULT


def search_fewer_hosts(task: Task, share: Callable[[], float] = lambda: 1.0
                       ) -> None:
    """If the objective is the number of hosts, improve the plan of the
    incumbent. Nothing is done if a member stays on its host, or if the group
    has too many members.

    :param task: its incumbent has a plan
    :param share: returns the share of the remaining time for this search. Ruin
        and recreate may satisfy further preferences, which changes the share
        for the programs
    :raises OutOfTime: if the time ends before the next program is built
    """
    known = task.known
    if known.placed or len(known.members) > limits().emptied_group or (
            not known.counts_hosts):
        return
    # In the same time, ruin and recreate empties more hosts of a large group,
    # and programs empty more hosts of a small one.
    is_large = len(known.members) > limits().emptied_first
    ruin_share = limits().main_share if is_large else limits().attempt_share
    ruin_and_recreate(known, task.deadline.part(ruin_share * share()))
    if known.is_good_enough:
        return
    search = _FewerHosts(task.part(share()))
    if not search.place_all():
        search.place_some()


class _FewerHosts:
    """Programs that improve the plan of an incumbent."""

    def __init__(self, task: Task):
        known = self._known = task.known
        self._backend, self._deadline = task.backend, task.deadline
        # Programs with hard policies in place of satisfied preferences take
        # less time.
        self._kept = known.with_satisfied_hard()
        self._table = HostTable.of(known.snapshot)
        self._eligibility = Eligibility(self._table)
        self._rows: RowsByPlace | None = None
        self._chance = random.Random(DEFAULT.improvement.seed)
        # The classes, approximately: members of one group with equal
        # requirements.
        self._class = {m.path: (m.path.rpartition('/')[0], id(m.requirements))
                       for m in known.members}

    def place_all(self) -> bool:
        """Place all members again, on the hosts of the plan and some of the
        hosts with the most room. Each further program uses more of them.
        Return whether no further program is useful: all were solved, or the
        plan is good enough."""
        for share in limits().roomy_shares:
            if self._known.is_good_enough:
                return True
            hosts = np.union1d(self._roomy(share), self._used())
            if len({*self._class.values()}) * len(hosts) > (
                    limits().program_places):
                return False
            outcome = self._step(frozenset(self._class), hosts,
                                 limits().program_seconds)
            if not outcome.is_complete:
                return False
        return True

    def place_some(self) -> None:
        """Place all members of some hosts again, until the time ends or many
        steps have not led to a better plan."""
        roomy = self._roomy(limits().roomy_shares[0])
        self._keep_hosts(np.union1d(roomy, self._used()))
        failures = 0
        while self._deadline.for_solver(0.0) and failures < (
                limits().failed_steps) and not self._known.is_good_enough:
            on = PlanView(self._kept).on_host
            chosen = self._chosen(on)
            freed = frozenset(path for name in chosen for path in on[name])
            hosts = {self._table.index[name] for name in chosen}
            further = self._unused()
            hosts.update(self._chance.sample(further, min(len(further), round(
                limits().further_hosts * len(hosts)))))
            outcome = self._step(freed, np.array(sorted(hosts)),
                                 limits().step_seconds)
            failures = 0 if outcome.is_better else failures + 1

    def _chosen(self, on: Mapping[str, Collection[str]]) -> list[str]:
        """Hosts of the plan for one program, as many as its size permits.

        Hosts with few members are the easiest to empty. In half of the
        programs, the hosts after the first one are those that share classes
        of members with the hosts before: the policies of these classes then
        leave more choice.

        :param on: host name to paths of its members
        """
        here = {name: {self._class[path] for path in paths}
                for name, paths in on.items()}
        most = limits().step_places / (1 + limits().further_hosts)
        chance = self._chance
        rank = {name: len(paths) ** chance.random() * chance.random()
                for name, paths in on.items()}
        joins = chance.choice((False, True))
        left, chosen = sorted(on, key=rank.__getitem__), []
        classes: set[tuple[str, int]] = set()

        def shared(name: str) -> float:
            common = len(classes & here[name])
            return common / len(here[name]) * chance.random()

        while left:
            name = max(left, key=shared) if joins and chosen else left[0]
            classes |= here[name]
            if chosen and len(classes) * (len(chosen) + 1) > most:
                break
            left.remove(name)
            chosen.append(name)
        return chosen

    def _step(self, freed: frozenset[str], hosts: np.ndarray,
              seconds: float) -> Outcome:
        """Place these members again on these hosts."""
        context = StepContext(
            self._table, self._rows, self._backend, self._deadline, replace(
                DEFAULT.improvement, share=1.0, seconds=seconds))
        outcome = step(PlanView(self._kept), Part(freed, hosts, False),
                       context)
        if outcome.is_better:
            self._known.offer(self._kept.where)
        return outcome

    def _keep_hosts(self, hosts: np.ndarray) -> None:
        """Use only these hosts from now on, and build the rows of all
        policies for them, from which each step takes those that it needs."""
        self._table = self._table.part(hosts)
        with contextlib.suppress(TooLarge):
            self._rows = RowsByPlace(self._kept.case(
                self._deadline.check, Subproblem(self._table)),
                self._deadline.check)

    def _unused(self) -> list[int]:
        return sorted(set(range(len(self._table))).difference(
            self._used().tolist()))

    def _used(self) -> np.ndarray:
        return self._table.indexes(self._kept.where.values())

    def _roomy(self, share: float) -> np.ndarray:
        return roomy_hosts(self._table, self._known.members,
                           self._eligibility, share)
