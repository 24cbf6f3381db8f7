# SPDX-License-Identifier: Apache-2.0
"""Ruin and recreate for one part of a group after another. Members of other
parts stay on their hosts. Therefore, the effort does not depend on the size of
the group."""

import contextlib
import random

import numpy as np

from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.solver.construct.batches import (
    Batch, batches, open_hosts)
from nova_holistic.solver.construct.promising_hosts import PromisingHosts
from nova_holistic.solver.construct.roomy_hosts import roomy_hosts
from nova_holistic.solver.evaluation.policy_evaluation import (
    distinguished_levels)
from nova_holistic.solver.limits.current import improve as limits
from nova_holistic.solver.limits.current import problem
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.eligibility import Eligibility
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.member_usage import MemberUsage
from nova_holistic.solver.problem.rules import scoped_policies
from nova_holistic.solver.problem.subproblem import Freed, Subproblem
from nova_holistic.solver.ruin_recreate.placement_costs import placement_costs
from nova_holistic.solver.ruin_recreate.ruin_and_recreate import (
    RuinAndRecreate)


def ruin_and_recreate(incumbent: Incumbent, deadline: Deadline,
                      seed: int = 1) -> None:
    """Improve the hosts of one part of the group after another, until no part
    leads to a better plan or the time ends.

    :param seed: seed of all random choices
    """
    with contextlib.suppress(OutOfTime):
        _search_parts(incumbent, deadline, random.Random(seed))


def _search_parts(incumbent: Incumbent, deadline: Deadline,
                  chance: random.Random) -> None:
    parts = batches(incumbent, limits().part_members)
    search = PartSearch(incumbent, deadline, chance)
    better = True
    while better:
        better = False
        order = chance.sample(parts, len(parts))
        for number, part in enumerate(order):
            if incumbent.is_good_enough:
                return
            left = sum(len(each.members) for each in order[number:])
            better |= search.run(part, deadline.part(
                len(part.members) / left))


class PartSearch:
    """Searches that improve the plan of one part after another."""

    def __init__(self, incumbent: Incumbent, deadline: Deadline,
                 chance: random.Random):
        self._incumbent = incumbent
        self._table = HostTable.of(incumbent.snapshot)
        self._deadline, self._chance = deadline, chance
        self._eligibility = Eligibility(self._table)
        self._promising = PromisingHosts(self._table, incumbent.members,
                                         incumbent.objective)

    def run(self, batch: Batch, deadline: Deadline) -> bool:
        """Search for better hosts of the batch; return whether the incumbent
        has a better plan now.

        :raises OutOfTime: if the case was not built within the time limit
        """
        self._deadline.check()
        known = self._incumbent
        freed = tuple(m for m in batch.members if m.path not in known.placed)
        case = freed and self._case(batch, freed)
        costs = case and placement_costs(case, known.objective, known.members)
        counts = case and known.counts(case)
        if not costs or counts is None:
            return False
        search = RuinAndRecreate(case, counts, costs, self._chance,
                                 self._deadline.check)
        better, steps = False, limits().ruin_steps
        if known.counts_hosts:
            # Many steps empty one host.
            steps = max(steps, limits().steps_per_member * len(freed))
        while deadline.left() and search.run(steps, deadline):
            found = case.placement(search.best)
            if not known.offer({**known.where, **{
                    m.path: found[m.path] for m in freed}}):
                # Further steps would start from this plan.
                break
            better = True
            if known.is_good_enough:
                break
        return better

    def _case(self, batch: Batch, freed: tuple[Member, ...]) -> Case:
        """The case in which the batch may move to some hosts, and the other
        members on these hosts stay."""
        known, index = self._incumbent, self._table.index
        paths = {m.path for m in freed}
        table = self._table.part(None)
        usage = MemberUsage(self._table, known.members)
        usage.add({path: host for path, host in known.where.items()
                   if path not in paths and path not in known.placed})
        table.occupy(usage.taken)
        hosts = self._hosts(batch, freed, table)
        inside = set(hosts.tolist())
        stay = {path: host.name for path, host in known.where.items()
                if path not in paths and index[host.name] in inside}
        group = known.group.only(paths | stay.keys())
        # Members on the hosts of others may violate preferences of others.
        policies = tuple(each for each in scoped_policies(group) if any(
            m.path in paths for m in each.scope.members) or (
                each.scope.members and not each.policy.hard
                and any(distinguished_levels(each, m) != {} for m in freed)))
        return Case.of(group, known.snapshot, stay, self._deadline.check,
                       Subproblem(table.part(hosts), Freed(
                           Scope('', group, freed), policies),
                           constructs=True))

    def _hosts(self, batch: Batch, freed: tuple[Member, ...],
               table: HostTable) -> np.ndarray:
        """Sorted indexes of the hosts that the batch uses or may use."""
        known = self._incumbent
        paths = batch.paths
        if known.counts_hosts and self._chance.random() < limits().roomy_share:
            hosts = np.union1d(
                roomy_hosts(table, freed, self._eligibility),
                table.indexes(known.where.values()))
        else:
            policies = sum(any(m.path in paths for m in each.scope.members)
                           for each in known.policies)
            hosts = self._promising.choose(table, freed, max(
                limits().fewest_hosts, min(problem().part_hosts, limits().rows
                                           // max(1, policies))),
                self._deadline.check)
        fine = open_hosts(batch, known, table, known.where)
        return np.union1d(hosts[fine[hosts]], table.indexes(
            known.where[path] for path in paths))
