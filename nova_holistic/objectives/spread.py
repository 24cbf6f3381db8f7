# SPDX-License-Identifier: Apache-2.0
"""Prefer empty hosts: additional usage costs more on a fuller host."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pulp import LpAffineExpression

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.members.member import Member
from nova_holistic.model.objective import (
    HostEncoder, Objective, HostCost)
from nova_holistic.model.policy import Expression
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.objectives.utilisation import utilisation

STEPS = 10
"""Breakpoints of the curve are at 0, 1/STEPS, 2/STEPS, ... 1."""


def curve(share: float) -> float:
    """The convex, piecewise linear curve through (u, u squared) at each tenth.

    Linear pieces make it exact in an integer program. Because it is convex, it
    separates members of one group from each other and from the load of others.
    """
    piece = min(int(share * STEPS), STEPS - 1)
    low = piece / STEPS
    return low * low + _slope(piece) * (share - low)


def _slope(piece: int) -> float:
    # ((k+1)/n)^2 - (k/n)^2 over 1/n
    return (2 * piece + 1) / STEPS


class Spread(Objective):
    """The sum over hosts of curve(utilisation after) - curve(before).

    Utilisation is the mean over the resource classes that the group requests.
    The usage of placed members is part of the snapshot and adds no cost.
    """

    name: ClassVar[str] = 'spread'

    def host_cost(self) -> HostCost:
        return HostCost(lambda free: free * 0,
                        tuple(_slope(piece) for piece in range(STEPS)))

    def value(self, members: Sequence[Member], placement: Mapping[str, Host],
              placed: Mapping[str, str], snapshot: Snapshot) -> float:
        classes = requested_classes(members)
        hosts: dict[str, Host] = {}
        extra: dict[str, dict[str, int]] = defaultdict(
            lambda: defaultdict(int))
        for member in members:
            if member.path in placed:
                continue
            host = placement[member.path]
            hosts[host.name] = host
            for name, amount in member.requirements.resources.items():
                extra[host.name][name] += amount
        return sum(
            curve(utilisation(hosts[name], classes, extra[name]))
            - curve(utilisation(hosts[name], classes))
            for name in sorted(hosts))

    def encode(self, encoder: HostEncoder) -> Expression:
        classes = requested_classes(encoder.members)
        total = LpAffineExpression()
        for index, host in enumerate(encoder.hosts()):
            added = self._added(encoder, host, classes)
            if added:
                total += self._curve_cost(encoder, added, str(index),
                                          utilisation(host, classes))
        return total

    @staticmethod
    def _added(encoder: HostEncoder, host: Host,
               classes: Sequence[str]) -> LpAffineExpression:
        """The increase of the host's utilisation by the group."""
        added = LpAffineExpression()
        for name in classes:
            inventory = host.inventories.get(name)
            if inventory is not None and inventory.free > 0:
                added += encoder.demand(host, name) * (
                    1 / (inventory.capacity * len(classes)))
        return added

    @staticmethod
    def _curve_cost(encoder: HostEncoder, added: LpAffineExpression, name: str,
                    before: float) -> LpAffineExpression:
        """The increase of the curve from ``before`` to ``before + added``.

        The unit is the largest step that one member takes, so that small
        members on huge hosts remain above a solver's tolerances.
        """
        unit = max(abs(step) for step in added.values())
        reach = sum(step * (variable.upBound or 0)
                    for variable, step in added.items()) + added.constant
        parts = []
        for piece in range(min(int(before * STEPS), STEPS - 1), STEPS):
            low = max(before, piece / STEPS)
            width = min(1.0, (piece + 1) / STEPS) - low
            if low - before > reach:
                break
            # The last piece is limited by the capacity only, so that a full
            # host does not depend on the last digit of a sum of widths.
            spare = unit if piece == STEPS - 1 else 0.0
            if width + spare > 0:
                parts.append((encoder.continuous(
                    f'climb {name} {piece}', 0, (width + spare) / unit),
                    _slope(piece) * unit))
        # Every added unit of usage belongs to one piece. The cost per unit
        # increases from piece to piece, so an optimal solution fills them in
        # their order.
        covered, cost = LpAffineExpression(), LpAffineExpression()
        for part, slope in parts:
            covered += part
            cost += part * slope
        encoder.require(covered == added * (1 / unit))
        return cost
