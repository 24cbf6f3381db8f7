# SPDX-License-Identifier: Apache-2.0
"""The result of a search for a plan."""

import enum


class SearchStatus(enum.Enum):
    """The result at the end of a search."""

    OPTIMAL = 'no plan is better'
    FEASIBLE = 'a plan, and perhaps a bound'
    INFEASIBLE = 'proved that no plan exists'
    NO_RESULT = 'neither a plan nor a proof'
