# SPDX-License-Identifier: Apache-2.0
"""Bounds and plans of independent parts that share hosts.

Dynamic programming finds the cheapest hosts of each part. Hosts that several
parts use get higher prices. The plans of the parts are columns of a linear
program, and its dual values are the next prices. This is column generation, as
in Dantzig and Wolfe, Decomposition Principle for Linear Programs (Operations
Research 8, 1960). An integer program then chooses one of the plans of each
part.
"""

from collections.abc import Iterator, Mapping, Sequence
import contextlib
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.group import Group
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.construct.batches import Batch
from nova_holistic.solver.limits.current import shared_hosts as limits
from nova_holistic.solver.numerics.tolerances import (
    SUM_ROUNDING, UTILISATION_ROUNDING)
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.shared_hosts.host_curves import HostCurves
from nova_holistic.solver.shared_hosts.host_prices import HostPrices
from nova_holistic.solver.shared_hosts.master import Choice, Master
from nova_holistic.solver.shared_hosts.needed_hosts import NeededHosts
from nova_holistic.solver.shared_hosts.part_program import PartProgram


def price_hosts(known: Incumbent, parts: Sequence[Batch],
                deadline: Deadline) -> Mapping[str, Host]:
    """Prove a bound of an incumbent that has a plan, and offer a better plan.

    :param known: its objective is a sum of convex costs of hosts, and no
        member stays on its host
    :param parts: the independent parts of the group
    :returns: member path to host of the members of most parts, on hosts whose
        prices are low. The best plan may have a lower cost; but if the parts
        move to better hosts from here, a better plan is often found
    """
    if known.is_good_enough:
        return {}
    where: Mapping[str, Host] = {}
    with contextlib.suppress(OutOfTime):
        search = _Search(known, parts, deadline)
        if not search.has_parts:
            return {}
        with contextlib.suppress(OutOfTime):
            search.run(deadline.part(limits().pricing_share))
        where = search.dive()
        search.choose(deadline.part(limits().choice_share))
    return where


class _Search:
    """The prices of the hosts and the plans of the parts. All methods raise
    OutOfTime if the time ends before.

    :ivar limit: cost of the preferences up to which the bounds are valid
    """

    def __init__(self, known: Incumbent, parts: Sequence[Batch],
                 deadline: Deadline):
        self._known, self._deadline = known, deadline
        self._limit = known.plan_cost[0]
        prices = known.member_prices
        self._prices = prices if prices and (
            self._limit <= prices.limit) else None
        self._curves = HostCurves.of(
            HostTable.of(known.snapshot), known.members,
            known.objective.host_cost(), self._prices)
        # The utilisation of a host depends on all requested resource classes.
        self._parts = self._programs([
            each for each in parts
            if requested_classes(each.members) == self._curves.classes])
        self._needed = [NeededHosts(each) for each in self._parts]
        self._master = Master(
            self._parts, self._curves, known.plan_cost[1] / len(
                known.members) or 1.0)
        where = {path: host.name for path, host in known.where.items()}
        for number, part in enumerate(self._parts):
            states = part.states_of(where)
            self._master.add(Choice(number, states, sum(
                float(part.problem.costs[each]) for each in states.items())))
        self._bound = 0.0

    @property
    def has_parts(self) -> bool:
        """Whether some part has a program."""
        return bool(self._parts)

    def run(self, deadline: Deadline) -> None:
        """Raise the bound, and find plans of the parts."""
        known, new = self._known, False
        for prices in self._first_prices():
            before = self._bound
            new |= self._price(prices, deadline)
            if not before or self._bound > before:
                best = prices
        for _ in range(limits().rounds):
            relaxed = self._master.relax(deadline.left())
            if not relaxed or known.is_good_enough:
                return
            value, duals = relaxed
            if value - self._bound <= limits().converged_gap * value:
                return
            prices = best.between(duals, limits().step if new else 1.0)
            before = self._bound
            new = self._price(prices, deadline)
            if self._bound > before:
                best = prices

    def _first_prices(self) -> list[HostPrices]:
        """The prices of relaxations without most policies, as far as they are
        solved; otherwise no prices. In large clouds, their bounds are usually
        better than those of the relaxations. They may be worse, because the
        relaxations count members that close their hosts in another way."""
        classes, parts = self._curves.classes, len(self._parts)
        duals, found = self._known.host_duals, []
        if duals is not None:
            found.append(HostPrices.of(duals, classes, parts))
        if self._prices is not None:
            found.append(HostPrices.of_members(
                self._prices.hosts, len(classes), parts))
        return found or [HostPrices.none(len(classes), parts)]

    def dive(self) -> Mapping[str, Host]:
        """Member path to host of a combination of the plans of the parts.
        Parts whose hosts are closed or full have none."""
        if self._known.is_good_enough:
            return {}
        where: dict[str, Host] = {}
        for each in self._placements(self._master.dive(self._deadline.check)):
            where.update(each)
        return where

    def choose(self, deadline: Deadline) -> None:
        """Offer the best combination of the plans of the parts."""
        deadline.check()
        known = self._known
        if known.is_good_enough:
            return
        placements = self._placements(self._master.choose(
            deadline.left(), known.gap / 2, limits().nodes) or ())
        if known.offer(self._with(placements)):
            return
        # Policies of one part may exclude hosts of another one.
        for each in placements:
            deadline.check()
            known.offer(self._with([each]))

    def _placements(self, chosen: Sequence[Choice]
                    ) -> list[Mapping[str, Host]]:
        return [self._parts[each.part].problem.placement(each.states)
                for each in chosen]

    def _with(self, placements: Sequence[Mapping[str, Host]]
              ) -> Mapping[str, Host]:
        """Member path to host: the best plan, with the hosts of these
        placements for their members."""
        where = dict(self._known.where)
        for each in placements:
            where.update(each)
        return where

    def _price(self, prices: HostPrices, deadline: Deadline) -> bool:
        """Raise the bound to that of the prices. Return whether a part has a
        new plan."""
        bounds, new = [], False
        for number, part in enumerate(self._parts):
            deadline.check()
            found = part.solve(self._needed[number].program(
                prices.hosts, partial(prices.costs, part, number,
                                      self._curves), deadline.check))
            if found is None:
                return False
            bounds.append(found.bound)
            if found.is_permitted:
                new |= self._master.add(Choice(
                    number, found.states, found.cost))
        terms = np.concatenate((bounds, prices.terms(self._curves)))
        used = len(prices.hosts) + len(self._known.members)
        bound = float(terms.sum() - SUM_ROUNDING * np.abs(terms).sum()
                      - UTILISATION_ROUNDING * used)
        if bound > self._bound:
            self._bound = bound
            self._known.prove(bound, self._limit)
        return new

    def _programs(self, parts: Sequence[Batch]) -> list[PartProgram]:
        """The programs of the parts, as far as they have few states."""
        known, limit = self._known, Fraction(self._limit)
        hard = with_hard_forms(known.group)
        if not limit:
            found = [self._program(hard, each, limit)
                     for each in self._at_pace(parts)]
            return [each for each in found if each is not None]
        found, least = [], []
        for part in self._at_pace(parts):
            program = self._program(known.group, part, limit)
            if program is not None:
                found.append((part, program))
                least.append(program.least(self._deadline.check))
        total, programs = sum(least, Fraction(0)), []
        for (part, program), cost in zip(found, least):
            if program.problem.rules.has_costs:
                permitted = limit - (total - cost)
                program = (replace(program, permitted=permitted) if permitted
                           else self._program(hard, part, permitted))
            if program is not None:
                programs.append(program)
        return programs

    def _at_pace(self, parts: Sequence[Batch]) -> Iterator[Batch]:
        """Yield the parts, while the time may suffice for the programs of all
        of them. Without all programs, nothing is proved.

        :raises OutOfTime: if the expected time of all parts exceeds the time
            left at the start by more than the factor ``optimism``. The factor
            allows for first parts that take longer than the others
        """
        left = self._deadline.left()
        for number, part in enumerate(parts):
            spent = left - self._deadline.left()
            if number >= limits().paced_parts and (
                    spent * len(parts) > limits().optimism * left * number):
                raise OutOfTime
            yield part

    def _program(self, group: Group, part: Batch,
                 permitted: Fraction) -> PartProgram | None:
        known = self._known
        return PartProgram.of(
            Incumbent(part.within(group), known.snapshot, {},
                      known.objective, known.gap),
            self._curves.classes,
            self._prices.prices if self._prices else {}, permitted,
            self._deadline.check)
