# SPDX-License-Identifier: Apache-2.0
"""All patterns of members on hosts that a better plan can use.

The prices of column generation prove a lower bound: the value of all members,
less the largest gain of each host. A plan costs at least this bound plus, for
each host, the difference between the largest gain and the gain of its pattern.
Therefore, a plan that costs less than a cutoff uses only patterns for which
this difference is less than the distance from the bound to the cutoff. As in
Baldacci, Christofides and Mingozzi, An exact algorithm for the vehicle routing
problem based on the set partitioning formulation (Mathematical Programming
115, 2008).

Members that are added to a pattern do not increase its cost if hosts only cost
to be used. Therefore, patterns to which no member can be added represent all
others.

If the patterns are too many, each of them is kept on the cheapest hosts only,
because a plan uses a limited number of hosts. Therefore, the number of
patterns depends little on the number of hosts.
"""

import numpy as np

from nova_holistic.solver.column_generation.completion_bounds import CellPrices
from nova_holistic.solver.column_generation.dominated_patterns import (
    without_equal)
from nova_holistic.solver.column_generation.enumeration import (
    numbers_to_add)
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.column_generation.patterns import Patterns
from nova_holistic.solver.column_generation.pricing import equal_prices
from nova_holistic.solver.limits.current import small_groups as limits
from nova_holistic.solver.problem.deadline import InTime


def useful_patterns(host_types: HostTypes, prices: np.ndarray,
                    least: np.ndarray, hosts: int,
                    in_time: InTime) -> Patterns | None:
    """Return all maximal patterns with a sufficient gain, as far as a plan
    needs them; None if they are too many.

    :param host_types: types of hosts whose cost does not depend on their
        utilisation
    :param prices: [kind, cell], of one member
    :param least: [type]: the smallest gain
    :param hosts: maximum number of hosts with patterns in a plan
    """
    found = Patterns.together((), len(prices))
    usable = np.minimum(host_types.free, host_types.room @ host_types.amounts)
    for cells in equal_prices(prices):
        types = np.flatnonzero(np.isin(host_types.cell, cells))
        if not len(types):
            continue
        cell_prices = CellPrices.of(
            np.maximum(prices[:, cells], 0.0).max(axis=1), host_types,
            host_types.room, types)
        for first in range(0, len(types), limits().types):
            in_time()
            each = _maximal(host_types, usable, cell_prices, least,
                            types[first:first + limits().types])
            if each is None:
                return None
            found = Patterns.together((found, each), len(prices))
            if len(found) > limits().patterns:
                found = without_equal(host_types, found, hosts)
                if len(found) > limits().patterns:
                    return None
    return found


def _maximal(host_types: HostTypes, usable: np.ndarray, prices: CellPrices,
             least: np.ndarray, types: np.ndarray) -> Patterns | None:
    """The maximal patterns of some types; None if they are too many."""
    priced = prices.order.tolist()
    rest = [k for k in range(len(host_types.amounts)) if k not in priced]
    order = priced + rest
    free, value = usable[types], -host_types.opening[types]
    members = np.zeros((len(types), len(order)), dtype=np.int64)
    for position, kind in enumerate(order):
        amounts = host_types.amounts[kind]
        some = amounts > 0
        most = np.minimum(host_types.room[types, kind], (
            free[:, some] // amounts[some]).min(axis=1))
        if position == len(order) - 1:
            # All of the members that fit.
            which, number = np.arange(len(most)), most
        else:
            if (most + 1).sum() > limits().partial_patterns:
                return None
            which, number = numbers_to_add(most)
        types, members = types[which], members[which]
        free = free[which] - number[:, None] * amounts
        value = value[which] + number * prices.prices[kind]
        members[:, kind] = number
        upper = value if position + 1 >= len(priced) else (
            value + prices.completion_bound(
                position + 1, types, free, value, value))
        kept = upper >= least[types]
        types, members = types[kept], members[kept]
        free, value = free[kept], value[kept]
    maximal = members.any(axis=1)
    for kind, amounts in enumerate(host_types.amounts):
        maximal &= (members[:, kind] >= host_types.room[types, kind]) | (
            free < amounts).any(axis=1)
    return Patterns(types[maximal], members[maximal])
