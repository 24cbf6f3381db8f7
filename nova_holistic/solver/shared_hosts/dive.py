# SPDX-License-Identifier: Apache-2.0
"""One choice of each part, from the linear program of all choices.

A dive fixes the choices with the largest shares, solves the program again, and
repeats both until each part has one choice. The program then has a small
number of other choices, so it takes few iterations from its last basis.
"""

import highspy
import numpy as np

from nova_holistic.solver.limits.current import shared_hosts as limits
from nova_holistic.solver.numerics.tolerances import INTEGRALITY
from nova_holistic.solver.problem.deadline import InTime


def dive(model: highspy.Highs, parts: np.ndarray, penalty: float,
         in_time: InTime) -> list[int]:
    """The numbers of the choices, for as many parts as fit together.

    :param model: a linear program. Its first variables are the shares of the
        choices, and its first rows are their sums by part. It is changed
    :param parts: [choice]: its part
    :param penalty: cost of a part without a choice
    """
    number, first = int(parts.max()) + 1, model.getNumCol()
    for part in range(number):
        model.addCol(penalty, 0.0, 1.0, 1, [part], [1.0])
    found: dict[int, int] = {}
    while len(found) < number:
        in_time()
        model.run()
        if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            break
        shares = np.array(model.getSolution().col_value)
        largest: dict[int, tuple[float, int]] = {}
        for column in (*range(len(parts)), *range(first, first + number)):
            part = int(parts[column]) if column < first else column - first
            if part not in found:
                largest[part] = max(largest.get(part, (-1.0, -1)), (
                    float(shares[column]), column))
        order = sorted(largest, key=lambda each: -largest[each][0])
        least = max(1, round(len(order) * limits().fixed_share))
        for position, part in enumerate(order):
            share, column = largest[part]
            if position < least or share > 1 - INTEGRALITY:
                found[part] = column
                model.changeColBounds(column, 1.0, 1.0)
    return [column for column in found.values() if column < first]
