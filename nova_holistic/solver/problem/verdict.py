# SPDX-License-Identifier: Apache-2.0
"""The result of a search for a plan."""

import enum


class Verdict(enum.Enum):
    """The result at the end of a search."""

    BEST = 'no plan is better'
    GOOD = 'a plan, and perhaps a bound'
    IMPOSSIBLE = 'proved that no plan exists'
    NOTHING = 'neither a plan nor a proof'
