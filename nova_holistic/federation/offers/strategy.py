# SPDX-License-Identifier: Apache-2.0
"""The switches of the optimisations. Without any of them, a parent
requests an offer of every child for the group and for every part."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strategy:
    """
    :ivar pruning: no offer is requested that the facts of a child exclude
    :ivar top: only the best offers of this number of children for each part
        are considered further; 0: all
    :ivar threshold: only perfect offers are considered first, then the
        conditions are relaxed in steps
    :ivar likely_first: requests go to the children in the order of their
        recent answers, in batches, and the search ends when a placement is
        found
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
