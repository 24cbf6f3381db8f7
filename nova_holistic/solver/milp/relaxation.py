# SPDX-License-Identifier: Apache-2.0
"""A small relaxation that contains every plan, for bounds and proofs.

Classes under the same rules are pooled. A pool's members are counted as
before, so the rules remain exact. Their demand on a host is a variable between
the smallest and the largest demand of a member; only the sums over all hosts
are exact. The optimum is a lower bound for all plans, and if the relaxation is
infeasible, no plan exists.
"""

from collections.abc import Iterator
from collections import defaultdict
from dataclasses import replace

import numpy as np
from pulp import LpAffineExpression, LpVariable

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.solver.milp.program import Program
from nova_holistic.solver.numerics.tolerances import FEASIBILITY
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.member_classes import MemberClass


def pooled(case: Case) -> Case:
    """The case with one class for all members under the same rules."""
    pools: dict[frozenset[int], list[int]] = defaultdict(list)
    for c, each in enumerate(case.classes):
        pools[each.scopes].append(c)
    classes = tuple(MemberClass(
        case.classes[pool[0]].requirements, scopes,
        tuple(m for c in pool for m in case.classes[c].members))
        for scopes, pool in pools.items())
    room = np.array([_room(case, pool) for pool in pools.values()]).reshape(
        len(classes), len(case.table))
    return replace(case, classes=classes, room=room)


def _room(case: Case, pool: list[int]) -> np.ndarray:
    """Maximum number of the classes' members on each host."""
    room = case.room[pool].sum(axis=0)
    suits = room > 0
    for name in sorted({n for c in pool for n, _ in case.classes[c].demands}):
        least = min(dict(case.classes[c].demands).get(name, 0) for c in pool)
        if least:
            free = case.table.amounts(name).free.clip(0)
            room = np.minimum(room, np.where(suits, free // least, 0))
    return room


class Relaxation(Program):
    """The program of a pooled case.

    ``_taken[h, name]`` are the demands of pools on a host: each is a variable,
    and the amount of 1 of it.
    """

    def _share_out(self) -> None:
        self._taken: dict[tuple[int, str], list[tuple[LpVariable, int]]] = (
            defaultdict(list))
        for p, pool in enumerate(self.case.classes):
            amounts = [dict(m.requirements.resources) for m in pool.members]
            for name in sorted({n for each in amounts for n in each}):
                self._share_out_one(p, name, [
                    each.get(name, 0) for each in amounts])

    def _share_out_one(self, p: int, name: str, amounts: list[int]) -> None:
        sizes = np.unique(amounts)
        least, most = int(sizes[0]), int(sizes[-1])
        if not most:
            return
        # No member on a host requests more than the free amount.
        fits = np.searchsorted(
            sizes, self.case.table.amounts(name).free, side='right') - 1
        shares = []
        for h, number in self.x[p].items():
            here = int(sizes[fits[h]]) if fits[h] >= 0 else 0
            if not here:
                continue
            share = number if here == least else self._share(
                number, f'share {p} {h} {name}', least / here)
            self._taken[h, name].append((share, here))
            shares.append((share, here / most))
        if shares and least < most:
            # Together they take the total demand of the members. The slack
            # corresponds to the tolerance of solvers, which may be much for a
            # host that is far smaller than others.
            total, slack = sum(amounts) / most, FEASIBILITY * len(amounts)
            self.require(LpAffineExpression(shares) >= total - slack)
            self.require(LpAffineExpression(shares) <= total + slack)

    def _share(self, number: LpVariable, name: str,
               least: float) -> LpVariable:
        """Demand of the members on a host, in units of the largest that fits.

        :param least: the smallest demand of a member
        """
        share = self.continuous(name, 0, float(number.upBound))
        # Each member takes no more than the largest demand,
        self.require(share <= number)
        # and no less than the smallest.
        self.require(share >= number * least)
        return next(iter(share))

    def demand(self, host: Host, resource_class: str) -> LpAffineExpression:
        h = self.case.table.index[host.name]
        return LpAffineExpression(self._taken.get((h, resource_class), ()))

    def busy(self) -> Iterator[int]:
        """Hosts that the solution uses, in order."""
        for h in sorted(self._here):
            if any((self.x[p][h].varValue or 0) > 1e-6
                   for p in self._here[h]):
                yield h

    def _keep_within_capacity(self) -> None:
        for (h, name), terms in self._taken.items():
            # Members that request none of it may be on an overcommitted host.
            free = max(0, int(self.case.table.amounts(name).free[h]))
            scale = max(amount for _, amount in terms)
            row = LpAffineExpression(
                [(v, amount / scale) for v, amount in terms])
            used = self._presence.known(h)
            # Members take at most the free amount of a host, and nothing of a
            # host that is not used.
            self.require(row <= (free / scale if used is None
                                 else used * (free / scale)))
