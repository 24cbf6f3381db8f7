# SPDX-License-Identifier: Apache-2.0
"""The cost of the preferences of a placement."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.solver.numerics.exact_weights import exact
from nova_holistic.solver.problem.rows import ScopedPolicy


def preference_cost(policies: Iterable[ScopedPolicy],
                    placement: Mapping[str, Host],
                    snapshot: Snapshot) -> Fraction:
    """The exact sum of the violations of each preference times its weight.

    :param policies: policies; hard policies have no cost
    """
    return sum((
        exact(each.policy.weight) * each.policy.check(
            each.scope, placement, snapshot).count
        for each in policies if not each.policy.hard), Fraction(0))
