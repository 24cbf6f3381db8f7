# SPDX-License-Identifier: Apache-2.0
"""The numbers of members of a kind that can be added to patterns."""

import numpy as np


def numbers_to_add(most: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each number from 0 to the maximum of each pattern.

    :param most: [pattern]: maximum number of members
    :returns: [extension]: the pattern, and the number
    """
    which = np.repeat(np.arange(len(most)), most + 1)
    begins = np.cumsum(most + 1) - (most + 1)
    return which, np.arange(len(which)) - np.repeat(begins, most + 1)
