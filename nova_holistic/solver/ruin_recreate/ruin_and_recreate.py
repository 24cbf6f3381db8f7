# SPDX-License-Identifier: Apache-2.0
"""Ruin and recreate: members leave their hosts, and greedy construction places
them again.

A step takes milliseconds, because it solves no program. As in simulated
annealing, a step may also lead to a slightly worse plan (Schrimpf, Schneider,
Stamm-Wilbrandt and Dueck, Record Breaking Optimization Results Using the Ruin
and Recreate Principle, Journal of Computational Physics 159, 2000).
"""

from collections.abc import Iterable, Sequence
from collections import Counter
from fractions import Fraction
import math
import random

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.solver.construct.attempt import Attempt, LookAhead
from nova_holistic.solver.evaluation.policy_evaluation import (
    distinguished_levels)
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import improve as limits
from nova_holistic.solver.numerics.tolerances import SUM_ROUNDING
from nova_holistic.solver.problem.case import Case, Counts, Place, places
from nova_holistic.solver.problem.deadline import Deadline, InTime
from nova_holistic.solver.problem.preference_cost import preference_cost
from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.ruin_recreate.placement_costs import PlacementCosts
from nova_holistic.solver.ruin_recreate.ruins import Ruins


class RuinAndRecreate:
    """Steps on one case, from a plan of it.

    :ivar best: counts of the best plan so far
    :ivar plan_cost: its preference cost and its approximate objective
    """

    def __init__(self, case: Case, counts: Counts, costs: PlacementCosts,
                 chance: random.Random, in_time: InTime):
        self._case, self._costs, self._chance = case, costs, chance
        self._class = 0
        self._pending: Counter[int] = Counter()
        self._noise = 0.0
        self._attempt = Attempt(case, self._score, RuleCounts(
            case, in_time), LookAhead(case))
        self._no_penalty = np.zeros(len(case.table))
        for place in places(counts):
            self._put(*place)
        self._where: dict[str, Host] = case.placement(counts)
        self._policies = _policies(case)
        # Preferences that also depend on members outside their scopes, and the
        # levels of the domains that they then compare.
        self._others = [
            (each, levels) for each in case.policies if not each.policy.hard
            and (levels := _compared_levels(each, case)) != {}]
        self._costs_of = {id(each): preference_cost(
            (each,), self._where, case.snapshot)
            for each in case.policies if not each.policy.hard}
        self._violated = self._with_costs()
        self._places = places(counts)
        self._ruins = Ruins(case, chance, limits().ruined_members * (
            limits().emptying_factor if costs.counts_hosts else 1))
        preferences = sum(self._costs_of.values(), Fraction(0))
        self.plan_cost = preferences, costs.value
        # The cost of preferences, and the guide, of the current plan.
        self._now = preferences, costs.guide
        self.best = self._copy()

    def run(self, steps: int, deadline: Deadline) -> bool:
        """Take this number of steps, or fewer if the time ends; return whether
        the best plan improved by more than ``least_gain``."""
        before = self.plan_cost
        temperature = (
            limits().temperature * abs(self._costs.value) / len(self._where))
        for number in range(steps):
            if not deadline.left():
                break
            self._step(temperature * (1 - number / steps) + 1e-12)
        cost, value = self.plan_cost
        # The value is about 0, or slightly less, if other members pay for all
        # hosts. Rounding errors do not count as a gain.
        gain = limits().least_gain * abs(value) + SUM_ROUNDING
        return (cost, value + gain) < before

    def _step(self, temperature: float) -> None:
        """Take one step, and undo it if its plan is not accepted."""
        self._noise = self._chance.choice((0.0, 0.1, 0.5))
        chosen = self._policy()
        ruined = self._ruins.draw(self._places, chosen)
        outside = None if chosen is None else self._ruins.outside(chosen)
        self._avoid = self._no_penalty if outside is None else outside
        self._avoids = set() if chosen is None else {
            m.path for m in chosen.scope.members}
        for c, host in ruined:
            self._take(c, host)
        built = self._recreate(ruined)
        touched = {c for c, _ in ruined}
        if built is not None and self._accepts(touched, temperature, {
                host for _, host in (*ruined, *built)}):
            return
        for c, host in built or ():
            self._take(c, host)
        for c, host in ruined:
            self._put(c, host)
        self._update_hosts(touched)

    def _policy(self) -> ScopedPolicy | None:
        """A policy whose members leave their hosts: a violated preference, or
        any policy of few members, which may move to another domain."""
        violated = self._violated
        draw = self._chance.random()
        if violated and draw < 0.5:
            return self._chance.choice(violated)
        few = self._ruins.few_members
        return self._chance.choice(few) if few and draw > 0.75 else None

    def _with_costs(self) -> list[ScopedPolicy]:
        """The preferences that the current plan violates."""
        return [each for each in self._case.policies
                if self._costs_of.get(id(each))]

    def _recreate(self, ruined: Sequence[Place]) -> list[Place] | None:
        """Place the members again; None if a member finds no host."""
        self._pending = Counter(c for c, _ in ruined)
        built: list[Place] = []
        for c in self._order():
            self._class = c
            avoid = (self._avoid if self._case.classes[c].members[0].path
                     in self._avoids else self._no_penalty)
            for _ in range(self._pending[c]):
                host = self._attempt.choose(c, avoid)
                if host is None:
                    for place in built:
                        self._take(*place)
                    return None
                self._put(c, host)
                built.append((c, host))
                self._pending[c] -= 1
        return built

    def _order(self) -> list[int]:
        """Classes of the pending members, by size, by number of possible hosts
        or in random order."""
        classes = sorted(self._pending)
        self._chance.shuffle(classes)
        how = self._chance.randrange(3)
        if how == 0:
            classes.sort(key=lambda c: -self._ruins.sizes[c])
        elif how == 1:
            classes.sort(key=lambda c: self._ruins.hosts[c])
        return classes

    def _score(self, attempt: Attempt) -> np.ndarray:
        """[host]: cost of one more member, with random noise. Hosts with less
        free capacity come first among equal costs."""
        cost = self._costs.of(self._class, self._pending)
        if self._noise:
            unit = np.frombuffer(self._chance.randbytes(
                len(cost)), dtype=np.uint8) / 255
            cost = cost * (1 + self._noise * unit)
        free = attempt.free.sum(axis=0)
        return cost + free * (1e-9 / free.max(initial=1))

    def _accepts(self, touched: set[int], temperature: float,
                 moved: set[int]) -> bool:
        """Whether the new plan satisfies the hard policies, and is better than
        the current plan or slightly worse. If it is, it becomes the current
        plan.

        :param touched: classes whose members may have moved
        :param moved: the hosts of these members, before and after the step
        """
        self._update_hosts(touched)
        policies = {id(each): each for c in touched
                    for each in self._policies[c]}
        policies.update((id(each), each) for each, levels in self._others
                        if self._is_near(each, levels, moved))
        snapshot = self._case.snapshot
        changed = {key: preference_cost((each,), self._where, snapshot)
                   for key, each in policies.items() if not each.policy.hard}
        cost = self._now[0] + sum(
            (new - self._costs_of[key] for key, new in changed.items()),
            Fraction(0))
        value, guide = self._costs.value, self._costs.guide
        most = self._now[1] - temperature * math.log(max(
            self._chance.random(), 1e-12))
        if cost > self._now[0] or cost == self._now[0] and guide > most:
            return False
        # A check takes much longer than the comparison of costs.
        if any(each.policy.check(each.scope, self._where, snapshot).count
               for each in policies.values() if each.policy.hard):
            return False
        if changed:
            self._costs_of.update(changed)
            self._violated = self._with_costs()
        self._places = places(self._attempt.counts)
        self._now = cost, guide
        if (cost, value + 1e-9 * abs(value)) < self.plan_cost:
            self.plan_cost, self.best = (cost, value), self._copy()
        return True

    def _is_near(self, each: ScopedPolicy, levels: Iterable[str] | None,
                 moved: set[int]) -> bool:
        """Whether one of the hosts is in the same domain as a member of the
        policy.

        :param levels: levels of the domains to compare; if they are not known
            (None), the result is True
        """
        if levels is None:
            return True
        table = self._case.table
        hosts = table.indexes(self._where[m.path] for m in each.scope.members)
        divisions = [table.division(level).of_host for level in levels]
        return any(np.isin(of_host[hosts], of_host[[*moved]]).any()
                   for of_host in divisions)

    def _update_hosts(self, classes: set[int]) -> None:
        """Update the hosts of the members of the classes."""
        hosts = self._case.table.hosts
        for c in classes:
            here = [hosts[h] for h, n in sorted(
                self._attempt.counts[c].items()) for _ in range(n)]
            self._where.update(zip((
                m.path for m in self._case.classes[c].members), here))

    def _put(self, c: int, host: int) -> None:
        self._attempt.put(c, host)
        self._costs.move(c, host, 1)

    def _take(self, c: int, host: int) -> None:
        self._attempt.take(c, host)
        self._costs.move(c, host, -1)

    def _copy(self) -> Counts:
        return tuple(dict(host_counts) for host_counts in self._attempt.counts)


def _compared_levels(each: ScopedPolicy,
                     case: Case) -> Iterable[str] | None:
    """The levels whose domains the policy compares for members outside its
    scope; empty if it does not depend on them, and None if this is not known.
    """
    inside = {m.path for m in each.scope.members}
    levels: dict[str, bool] = {}
    for members in case.classes:
        member = members.members[0]
        if member.path not in inside:
            found = distinguished_levels(each, member)
            if found is None:
                return None
            levels.update(found)
    return levels


def _policies(case: Case) -> list[list[ScopedPolicy]]:
    """For each class, the policies that its places can violate."""
    found: list[list[ScopedPolicy]] = []
    paths = [(each, {m.path for m in each.scope.members})
             for each in case.policies]
    for members in case.classes:
        found.append([each for each, inside in paths
                      if each.policy.closes
                      or members.members[0].path in inside])
    return found
