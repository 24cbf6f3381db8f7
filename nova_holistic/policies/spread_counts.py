# SPDX-License-Identifier: Apache-2.0
"""Counts the members of eligible domains, so that ``spread`` can check many
hosts for one further member. The domains are counted once.

The check of a placement counts in another way. Tests compare both.
"""

from collections.abc import Mapping, Set
from collections import Counter
from dataclasses import dataclass
import functools
from typing import NamedTuple

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.members.placed_members import Counts

Place = tuple[Domain | None, ...]
"""The domain of a coarser level; empty if no level confines the members."""
Numbers = Mapping[int, int]
"""Number of eligible domains by their number of members."""


class MemberNumbers(NamedTuple):
    """Numbers of members.

    :ivar missing: number of members without a host
    :ivar used: number of domains that have members
    :ivar outside: number of members in no domain
    """

    numbers: Numbers
    missing: int
    used: int
    outside: int

    def skew(self) -> int:
        """The difference between the largest and the smallest number of an
        eligible domain, if the missing members are placed in the smallest
        ones."""
        smallest = min(self.numbers, default=0)
        largest = max(self.numbers, default=0)
        missing, filled = self.missing, 0
        while missing > 0 and smallest < largest:
            filled += self.numbers.get(smallest, 0)
            missing -= filled
            smallest += missing >= 0
        return largest - smallest


@dataclass(frozen=True)
class SpreadCounts:
    """The placed members of a group.

    :ivar total: number of all members
    :ivar counts: number of placed members in each domain
    :ivar chosen: places of these members
    :ivar eligible: eligible domains in each place
    """

    total: int
    counts: Counts
    chosen: frozenset[Place]
    eligible: Mapping[Place, Set[Domain]]

    @functools.cached_property
    def now(self) -> MemberNumbers:
        """The numbers of the placed members."""
        outside = self.counts.get(None, 0)
        return MemberNumbers(
            self._divided(self.chosen)[1],
            self.total - sum(self.counts.values()),
            len(self.counts) - bool(outside), outside)

    def with_another(self, domain: Domain | None,
                     place: Place) -> MemberNumbers:
        """The numbers with a further member in this domain and place."""
        eligible, numbers = self._divided(self.chosen | {place})
        count = self.counts.get(domain, 0)
        if domain in eligible:
            changed = Counter(numbers)
            changed[count] -= 1
            changed[count + 1] += 1
            numbers = +changed
        return MemberNumbers(
            numbers, self.now.missing - 1,
            self.now.used + (domain is not None and not count),
            self.now.outside + (domain is None))

    @functools.cached_property
    def _known(self) -> dict[frozenset[Place], tuple[Set[Domain], Numbers]]:
        return {}

    def _divided(self, chosen: frozenset[Place]
                 ) -> tuple[Set[Domain], Numbers]:
        """The eligible domains in these places, and their numbers."""
        if chosen not in self._known:
            parts = [self.eligible[place] for place in chosen
                     if place in self.eligible]
            eligible = (parts[0] if len(parts) == 1
                        else set[Domain]().union(*parts))
            used = self.counts.keys() & eligible
            found = Counter(map(self.counts.__getitem__, used))
            if len(used) < len(eligible):
                found[0] = len(eligible) - len(used)
            self._known[chosen] = eligible, found
        return self._known[chosen]
