# SPDX-License-Identifier: Apache-2.0
"""Places for members in a relaxation without policies on domains."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class KindPlaces:
    """Places for members of each kind. A plan that uses most of them has few
    hosts. Policies may prevent the use of some places.

    :ivar kind_of: member path to kind; some members have none
    :ivar places: [kind, host of the snapshot]: number of members
    :ivar size: [kind]: a number that is equal for kinds whose members request
        equal amounts
    """

    kind_of: Mapping[str, int]
    places: np.ndarray
    size: np.ndarray

    @property
    def hosts(self) -> np.ndarray:
        """[host]: whether it has a place for any kind."""
        return (self.places > 0).any(axis=0)
