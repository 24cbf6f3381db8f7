# SPDX-License-Identifier: Apache-2.0
"""The recent answers of children to all requests of this process."""

from collections.abc import Iterable
import threading

_WEIGHT = 0.3
"""Weight of the newest answer in the moving average. It affects only the
order of requests."""
_UNKNOWN = 0.5


class History:
    """Moving averages of the share of requests to which each child made an
    offer. Threads share the object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shares: dict[str, float] = {}

    def record(self, child: str, offered: bool) -> None:
        with self._lock:
            before = self._shares.get(child, _UNKNOWN)
            self._shares[child] = before + _WEIGHT * (offered - before)

    def likely_first(self, children: Iterable[str]) -> list[str]:
        """The children in the order of these shares, the largest share first.
        Children with equal shares keep their order."""
        with self._lock:
            return sorted(children, key=lambda child: -self._shares.get(
                child, _UNKNOWN))
