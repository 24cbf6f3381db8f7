# SPDX-License-Identifier: Apache-2.0
"""The amounts that several members can request together."""

from collections.abc import Sequence
from collections import Counter

import numpy as np

from nova_holistic.model.members.member import Member
from nova_holistic.solver.limits.current import shared_hosts as limits


def sums_of_amounts(members: Sequence[Member], classes: Sequence[str],
                    most: np.ndarray) -> np.ndarray | None:
    """[n, class]: the different sums of the amounts of some of the members,
    with the sum of no member; None if there are too many.

    :param most: [class]: the largest sums of interest
    """
    sums = np.zeros((1, len(classes)), dtype=np.int64)
    for amounts, number in Counter(
            tuple(each.requirements.resources.get(name, 0)
                  for name in classes) for each in members).items():
        one = np.array(amounts)
        some = one > 0
        if not some.any():
            continue
        number = min(number, int((most[some] // one[some]).min()))
        if len(sums) * (number + 1) > limits().candidate_sums:
            return None
        sums = (sums[:, None] + np.arange(number + 1)[:, None] * one
                ).reshape(-1, len(classes))
        sums = np.unique(sums[(sums <= most).all(axis=1)], axis=0)
        if len(sums) > limits().sums:
            return None
    return sums
