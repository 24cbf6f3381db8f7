# SPDX-License-Identifier: Apache-2.0
"""Iterates over a changing set of items in rounds, a few items at a time."""

import bisect
from collections.abc import Collection, Iterator


class RoundRobin:
    """Each item is returned once before any item is returned again, even if
    items are added or removed in between."""

    def __init__(self) -> None:
        self._last = ''

    def next(self, things: Collection[str]) -> Iterator[str]:
        """Each item once, in ascending order from the first item after the
        last item of the previous call. After the largest item, the iteration
        continues with the smallest item."""
        ordered = sorted(things)
        start = bisect.bisect_right(ordered, self._last)
        for thing in (*ordered[start:], *ordered[:start]):
            self._last = thing
            yield thing
