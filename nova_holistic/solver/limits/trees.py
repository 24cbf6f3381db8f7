# SPDX-License-Identifier: Apache-2.0
"""Limits of plans whose members use trees of resource providers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TreesLimits:
    """Limits of plans whose members use trees of resource providers.

    :ivar plans: largest number of plans that are tried. More than one is
        needed only if members request different amounts of a class from the
        same hosts. No effect on 12 points.
    :ivar subsets_of: largest number of different demands for the same classes
        of which each set has a row. Beyond it, each demand and all of them
        together have one. No point reads it.
    :ivar check_steps: steps after which the search for providers of one host
        ends without an answer. Placement then decides when the places are
        held. No point reads it.
    """

    plans: int = 20
    subsets_of: int = 4
    check_steps: int = 20_000
