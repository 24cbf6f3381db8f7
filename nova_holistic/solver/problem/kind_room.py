# SPDX-License-Identifier: Apache-2.0
"""How many members of each kind each host takes. To save memory, numbers have
the narrowest possible type, and kinds with equal rows share one row."""

from collections.abc import Callable, Mapping

import numpy as np

from nova_holistic.model.members.requirements import Requirements
from nova_holistic.solver.limits.current import problem as limits
from nova_holistic.solver.problem.deadline import TooLarge
from nova_holistic.solver.problem.eligibility import Eligibility

_WIDTHS = (np.int8, np.int16, np.int32, np.int64)


class KindRoom:
    """Rows of hosts by kind; equal rows share one array.

    :ivar room: kind to the maximum number of its members on each host
    :ivar some: kind to whether each host takes any of its members
    """

    def __init__(self, eligibility: Eligibility,
                 numbers: Mapping[Requirements, int],
                 in_time: Callable[[], None]):
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
    """
    :raises TooLarge: if the size in bytes exceeds the limit of one array
    """
    if size > limits().array_bytes:
        raise TooLarge
