# SPDX-License-Identifier: Apache-2.0
"""How a search for a plan has ended."""

import enum


class Verdict(enum.Enum):
    """What is known at the end."""

    BEST = 'no plan is better'
    GOOD = 'a plan, and perhaps a bound'
    IMPOSSIBLE = 'proved that there is no plan'
    NOTHING = 'neither a plan nor a proof'
