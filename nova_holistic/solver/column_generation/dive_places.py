# SPDX-License-Identifier: Apache-2.0
"""Places for members on the hosts of a dive, for greedy construction."""

import math

import numpy as np

from nova_holistic.solver.column_generation.diving import Dive
from nova_holistic.solver.column_generation.generation import ColumnGeneration
from nova_holistic.solver.column_generation.pattern_placement import (
    places_on_hosts)
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.numerics.kind_places import KindPlaces
from nova_holistic.solver.problem.eligibility import demands
from nova_holistic.solver.problem.kinds import Kinds


def places_of_dive(generation: ColumnGeneration, kinds: Kinds,
                   columns: Columns) -> KindPlaces | None:
    """The places of the first dive; None if it finds none in time.

    :param generation: has generated patterns of these kinds and columns
    """
    # Any value is good enough, because the places only guide a construction.
    found = Dive(generation, math.inf, math.inf, True).run()
    if found is None or not found.hosts:
        return None
    places = np.zeros((len(kinds.kinds), len(kinds.table)), dtype=np.int64)
    places[:, columns.hosts] = places_on_hosts(generation, found.hosts)
    numbers: dict[tuple, int] = {}
    return KindPlaces(kinds.kind_of, places, np.array([
        numbers.setdefault(tuple(sorted(demands(each.requirements))),
                           len(numbers)) for each in kinds.kinds]))
