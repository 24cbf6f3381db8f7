# SPDX-License-Identifier: Apache-2.0
"""A few of many things at a time, until each has had its turn."""

import bisect
from collections.abc import Collection, Iterator


class RoundRobin:
    """Each item is returned once before any item is returned again, even if
    items are added or removed in between."""

    def __init__(self) -> None:
        self._last = ''

    def next(self, things: Collection[str]) -> Iterator[str]:
        """Each thing once, in order. The first is the one after the thing that
        the previous call returned last."""
        ordered = sorted(things)
        start = bisect.bisect_right(ordered, self._last)
        for thing in (*ordered[start:], *ordered[:start]):
            self._last = thing
            yield thing
