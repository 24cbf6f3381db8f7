# SPDX-License-Identifier: Apache-2.0
"""The prices of members that column generation has proved."""

import numpy as np

from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.numerics.member_prices import MemberPrices
from nova_holistic.solver.problem.kinds import Kinds


def member_prices(generation: ColumnGeneration, kinds: Kinds,
                  columns: Columns, limit: float) -> MemberPrices:
    """The prices of the best bound, which are the same on all hosts, with the
    gains of the hosts.

    :param generation: has generated patterns of these kinds and columns
    :param limit: cost of the preferences up to which the bound is valid
    """
    prices, gains, _ = generation.proved_prices()
    # In some cells, members have higher prices. Lower ones are valid, too.
    least = np.maximum(0.0, prices.min(axis=1)).tolist()
    host_types = generation.host_types
    some = np.flatnonzero(gains.most > 0)
    hosts = columns.hosts[np.concatenate([np.zeros(0, dtype=np.int64), *map(
        host_types.hosts, some.tolist())])]
    order = np.argsort(hosts)
    return MemberPrices(
        {path: least[kind] for path, kind in kinds.kind_of.items()},
        hosts[order],
        np.repeat(gains.most[some], host_types.numbers[some])[order], limit)
