# SPDX-License-Identifier: Apache-2.0
"""The hosts that a step may use: hosts in use, and some others."""

from collections.abc import Sequence
import random

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.solver.construct.some_hosts import free_shares
from nova_holistic.solver.evaluation.marginal_cost import MarginalCost
from nova_holistic.solver.improve.neighbourhood import PlanView
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.problem.eligibility import demands, Eligibility
from nova_holistic.solver.problem.hosts import HostTable


class CandidateHosts:
    """The choice of hosts from all hosts of the snapshot, with array
    operations."""

    def __init__(self, table: HostTable, members: Sequence[Member],
                 plan: PlanView):
        self._table = table
        self._eligibility = Eligibility(table)
        self._members = {m.path: m for m in members}
        host_cost = plan.incumbent.objective.host_cost()
        self._costs = host_cost and MarginalCost(table, members, host_cost, ())
        self._plan: PlanView | None = None

    def choose(self, plan: PlanView, freed: Sequence[str],
               settings: Improvement, chance: random.Random) -> np.ndarray:
        """Sorted indexes of hosts that the freed members may use.

        They include the hosts that these members leave.
        """
        self._update(plan)
        left = {self._table.index[plan.where[path].name] for path in freed}
        suits = np.zeros(len(self._table), dtype=bool)
        for path in freed:
            suits |= self._eligibility.taking(self._members[path].requirements)
        used = [h for h in self._used if suits[h] and h not in left]
        used = chance.sample(used, min(len(used), settings.used_hosts))
        free = suits & self._unused
        part = max(1, settings.hosts // 3)
        chosen = {*self._cheap(freed, free, part, chance)}
        for some in (free & self._near, free):
            found = np.flatnonzero(some).tolist()
            chosen.update(chance.sample(found, min(part, len(found))))
        return np.array(sorted({*left, *used, *chosen}), dtype=np.int64)

    def _update(self, plan: PlanView) -> None:
        if plan is self._plan:
            return
        self._plan, table = plan, self._table
        names = {host.name for host in plan.where.values()}
        self._used = sorted(table.index[name] for name in names)
        self._unused = np.ones(len(table), dtype=bool)
        self._unused[self._used] = False
        # Hosts in the same domains as hosts in use, at the level above the
        # hosts.
        levels = table.snapshot.levels
        of_host = table.division(levels[max(0, len(levels) - 2)]).of_host
        self._near = np.isin(of_host, of_host[self._used]) & (of_host >= 0)

    def _cheap(self, freed: Sequence[str], free: np.ndarray, number: int,
               chance: random.Random) -> list[int]:
        """Hosts with a low cost, divided by the share of the freed members
        that they have room for.

        :param free: mask of the hosts to choose from
        """
        hosts = np.flatnonzero(free)
        if not len(hosts):
            return []
        share = np.minimum(1.0, free_shares(
            (self._members[path] for path in freed), self._table)[hosts])
        cost = np.ones(len(hosts))
        if self._costs:
            one = demands(self._members[chance.choice(freed)].requirements)
            cost = self._costs.of(one)[hosts]
        return hosts[np.argsort(cost / np.maximum(share, 1e-9),
                                kind='stable')][:number].tolist()
