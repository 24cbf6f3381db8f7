# SPDX-License-Identifier: Apache-2.0
"""What the preferences of a placement cost."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from nova_holistic.model.snapshot import Host, Snapshot
from nova_holistic.solver.problem.exact_weights import exact
from nova_holistic.solver.problem.rows import Carried


def preference_cost(policies: Iterable[Carried],
                    placement: Mapping[str, Host],
                    snapshot: Snapshot) -> Fraction:
    """The violations of each preference times its weight, added up exactly.

    :param policies: those that are hard cost nothing
    """
    return sum((
        exact(each.policy.weight) * each.policy.check(
            each.scope, placement, snapshot).count
        for each in policies if not each.policy.hard), Fraction(0))
