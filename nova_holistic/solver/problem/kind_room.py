# SPDX-License-Identifier: Apache-2.0
"""The number of members of each kind that each host takes. To save memory,
numbers have the narrowest possible type, and kinds with equal rows share one
row."""

from collections.abc import Mapping

import numpy as np

from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.limits.current import problem as limits
from nova_holistic.solver.problem.deadline import InTime, TooLarge
from nova_holistic.solver.problem.eligibility import Eligibility

_WIDTHS = (np.int8, np.int16, np.int32, np.int64)


class KindRoom:
    """Rows of hosts by kind; equal rows share one array.

    :param numbers: kind to its number of members
    :ivar room: kind to [host]: maximum number of its members
    :ivar some: kind to [host]: whether the host takes any of its members
    :raises TooLarge: if all rows together exceed the size limit of one array
    """

    def __init__(self, eligibility: Eligibility,
                 numbers: Mapping[Requirements, int], in_time: InTime):
        self.room: dict[Requirements, np.ndarray] = {}
        self.some: dict[Requirements, np.ndarray] = {}
        known: dict[tuple[str, bytes], np.ndarray] = {}
        held = 0
        for kind, number in numbers.items():
            in_time()
            row = eligibility.room(kind, number).astype(width(number))
            for kept, found in ((self.room, row), (self.some, row > 0)):
                key = found.dtype.char, found.tobytes()
                if key not in known:
                    held += found.nbytes
                    require_size(held)
                kept[kind] = known.setdefault(key, found)


def width(largest: int) -> type[np.signedinteger]:
    """The narrowest type for this number and its negative."""
    return next(w for w in _WIDTHS if largest <= np.iinfo(w).max)


def require_size(size: int) -> None:
    """Require that an array does not exceed the size limit.

    :param size: size in bytes
    :raises TooLarge: if the size exceeds the limit of one array
    """
    if size > limits().array_bytes:
        raise TooLarge
