# SPDX-License-Identifier: Apache-2.0
"""The options of the optimisations. Without optimisations, a parent requests
an offer from every child for the group and for every kind of part."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strategy:
    """The optimisations of a search.

    :ivar pruning: whether the parent requests no offers that the facts of a
        child exclude
    :ivar top: number of children with the best offers for the first kind of
        part that receive requests for the other kinds; 0: all children
    :ivar threshold: whether preferences are conditions first, and are then
        relaxed in steps
    :ivar likely_first: whether requests go to the children in the order of
        their recent answers, in batches, and the search ends when a placement
        is found
    :ivar good_enough: the search ends when a placement is found whose
        weighted violations are at most this; None: never before all children
        have answered
    :ivar batch: number of children in a batch of ``likely_first``,
        ``good_enough`` and ``threshold``
    :ivar burst_share: a child with a larger share in use is used only if no
        other child takes the group; 1: never
    :ivar facts_ttl: seconds for which facts that were read are used
    """

    pruning: bool = False
    top: int = 0
    threshold: bool = False
    likely_first: bool = False
    good_enough: float | None = None
    batch: int = 4
    burst_share: float = 1.0
    facts_ttl: float = 300.0


BRUTE_FORCE = Strategy()
