# SPDX-License-Identifier: Apache-2.0
"""Limits of plans whose members use trees of resource providers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TreesLimits:
    """Limits of plans whose members use trees of resource providers.

    :ivar subsets_of: largest number of different demands for the same classes
        of which each set has a row. Beyond it, each demand and all of them
        together have one. With 1, the bound of
        tests/unit/solver/internal/test_tree_plans.py is 2 instead of 3 hosts.
        With 16, the problem of 12 different demands on 100 hosts takes more
        than a minute.
    :ivar check_steps: steps after which the search for providers of one host
        ends without an answer. Placement then decides when the places are
        held. Of 10 searches on six cards of 16 units that random requests
        nearly fill, 5 end after this number in 0.3 seconds of processor time
        on average. With four times the value, 2 end without an answer, and the
        time is 3.3 times as long.
    """

    subsets_of: int = 4
    check_steps: int = 20_000
