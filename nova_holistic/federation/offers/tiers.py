# SPDX-License-Identifier: Apache-2.0
"""Children that are used only if other children cannot take a group."""

from collections.abc import Callable, Sequence

from nova_holistic.federation.facts.facts import Facts
from nova_holistic.federation.results import Candidate


def tiers(candidates: Sequence[Candidate], burst_share: float,
          facts: Callable[[Candidate], Facts]) -> list[tuple[Candidate, ...]]:
    """Sets of children. Each set contains all children of the previous set.

    The first set contains only children with the lowest ``order``. Children
    with a larger share in use than ``burst_share`` come last. They are not
    excluded, because they may be the only children with capacity.

    :param facts: returns the facts that may be used now
    """
    def rank(candidate: Candidate) -> tuple[bool, int]:
        share = facts(candidate).share_in_use
        return share is not None and share > burst_share, candidate.order

    ranks = {each.name: rank(each) for each in candidates}
    return [tuple(each for each in candidates if ranks[each.name] <= limit)
            for limit in sorted(set(ranks.values()))]
