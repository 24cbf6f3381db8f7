# SPDX-License-Identifier: Apache-2.0
"""Enumeration of numbers of members."""

from collections.abc import Callable, Iterable

import numpy as np


def numbers_to_add(most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each number from 0 to the maximum of each pattern.

    :param most: [pattern]: maximum number of members
    :returns: [extension]: the pattern, and the number
    """
    which = np.repeat(np.arange(len(most)), most + 1)
    begins = np.cumsum(most + 1) - (most + 1)
    return which, np.arange(len(which)) - np.repeat(begins, most + 1)


def every_pattern(largest: Iterable[int],
                  fits: Callable[[np.ndarray], np.ndarray],
                  most: int) -> np.ndarray | None:
    """[pattern, kind]: all patterns that fit; None if they are too many.

    :param largest: maximum number of members of each kind
    :param fits: returns for each pattern of the first kinds whether it fits
    :param most: maximum number of patterns
    """
    found = np.zeros((1, 0), dtype=np.int64)
    for number in largest:
        more = np.arange(number + 1)
        if len(found) * len(more) > 4 * most:
            return None
        found = np.column_stack((np.repeat(found, len(more), axis=0),
                                 np.tile(more, len(found))))
        found = found[fits(found)]
    return found if len(found) <= most else None
