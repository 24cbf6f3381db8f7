# SPDX-License-Identifier: Apache-2.0
"""Children that are used only if other children cannot take a group."""

from collections.abc import Callable, Sequence

from nova_holistic.federation.facts.facts import Facts
from nova_holistic.federation.results import Candidate


def tiers(candidates: Sequence[Candidate], burst_share: float,
          facts: Callable[[Candidate], Facts]) -> list[tuple[Candidate, ...]]:
    """Sets of children, each with all children of the one before.

    Children with the lowest ``order`` are alone in the first. A child of
    whose capacity more than ``burst_share`` is in use comes last, because it
    may still be the only one with capacity.

    :param facts: that may be used now
    """
    def rank(candidate: Candidate) -> tuple[bool, int]:
        share = facts(candidate).share_in_use
        return share is not None and share > burst_share, candidate.order

    ranks = {each.name: rank(each) for each in candidates}
    return [tuple(each for each in candidates if ranks[each.name] <= limit)
            for limit in sorted(set(ranks.values()))]
