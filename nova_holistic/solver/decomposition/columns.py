# SPDX-License-Identifier: Apache-2.0
"""Hosts as columns of a relaxation: their room for members of each kind, and
the cost of using them."""

from dataclasses import dataclass, fields

import numpy as np

from nova_holistic.model.objective import HostCost
from nova_holistic.objectives.utilisation import requested_classes
from nova_holistic.solver.numerics.tolerances import EQUAL_COSTS
from nova_holistic.solver.problem.kinds import Kinds


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Properties of each host that can take some member.

    :ivar hosts: indexes of the hosts
    :ivar cell: [host]: its cell
    :ivar free: [host, resource class], limited to what members can use
    :ivar room: [host, kind]: maximum number of members
    :ivar opening: [host]: cost of using the host
    :ivar before: [host]: utilisation before any member is added; 0 if the cost
        does not depend on it
    :ivar steps: [host, kind]: increase of the utilisation by one member; no
        columns if the cost does not depend on it
    """

    hosts: np.ndarray
    cell: np.ndarray
    free: np.ndarray
    room: np.ndarray
    opening: np.ndarray
    before: np.ndarray
    steps: np.ndarray

    @property
    def weight(self) -> np.ndarray:
        """[host]: divisor of the other properties, so that a host with twice
        the room at twice the cost is considered equal."""
        return np.where(self.opening > EQUAL_COSTS, self.opening, 1.0)

    def part(self, numbers: np.ndarray) -> 'Columns':
        """The columns of some of the hosts."""
        return Columns(*(getattr(self, field.name)[numbers]
                         for field in fields(self)))

    def values(self) -> np.ndarray:
        """[host, ...]: a higher value in any column is never worse."""
        weight = self.weight
        each = weight[:, None]
        return np.column_stack((
            self.free / each, self.room / each, -self.opening / weight,
            -self.before, -self.steps))

    def split_values(self) -> np.ndarray:
        """[host, ...]: the values by which bins are split, each from 0 to 1.

        If costs rise with utilisation, members are placed on many hosts. All
        of these hosts have room, so only costs distinguish them.
        """
        values = (np.column_stack((self.before, self.steps))
                  if self.steps.shape[1] else self.values())
        if not len(values):
            return values
        return values / np.maximum(
            values.max(axis=0) - values.min(axis=0), EQUAL_COSTS)


def columns(kinds: Kinds, of: np.ndarray, host_cost: HostCost) -> Columns:
    """Return the columns of hosts that can take some member.

    :param of: [host]: cell
    """
    hosts = np.flatnonzero((kinds.room > 0).any(axis=0) & (of >= 0))
    room = kinds.room[:, hosts].T
    numbers = kinds.numbers
    amounts = kinds.amounts
    free = kinds.free[hosts]
    if len(hosts) and not kinds.is_coarse:
        # Members take at most the amounts that fill the room of every kind.
        free = np.minimum(free, np.minimum(room, numbers) @ amounts)
        divisors = np.gcd.reduce(amounts, axis=0)
        free = free // divisors * divisors
    share, units = utilisation(kinds, hosts)
    steps = units @ kinds.amounts.T
    opening = np.asarray(host_cost.opening(1 - share), float)
    opening = np.where(np.isin(hosts, kinds.placed_hosts), 0.0, opening)
    if not host_cost.slopes:
        share, steps = np.zeros(len(hosts)), np.zeros((len(hosts), 0))
    return Columns(hosts, of[hosts], free, room, opening, share, steps)


def utilisation(kinds: Kinds,
                hosts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[host]: utilisation; [host, resource class]: its increase by one unit.

    The utilisation is the mean over all resource classes that members of the
    group request, including members that stay.

    :param hosts: indexes of hosts
    """
    names = requested_classes(kinds.members)
    share = np.zeros(len(hosts))
    units = np.zeros((len(hosts), len(kinds.names)))
    for name in names:
        amounts = kinds.table.amounts(name).part(hosts)
        some = amounts.capacity > 0
        capacity = np.where(some, amounts.capacity, 1)
        utilised = 1 - amounts.free / capacity
        share += np.where(some, np.minimum(1.0, utilised), 1.0)
        if name in kinds.names:
            units[:, kinds.names.index(name)] = np.where(
                some & (amounts.free > 0), 1 / capacity, 0)
    count = max(1, len(names))
    return share / count, units / count


def constant(kinds: Kinds, host_cost: HostCost) -> float:
    """Cost of the hosts of members that stay."""
    hosts = kinds.placed_hosts
    return float(np.sum(host_cost.opening(
        1 - utilisation(kinds, hosts)[0]))) if len(hosts) else 0.0
