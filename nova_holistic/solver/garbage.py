# SPDX-License-Identifier: Apache-2.0
"""Fewer garbage collections during a solve.

A solve creates many objects, keeps them, and creates few cycles. With Python's
default thresholds, the collector took half of the time for encoding policies.
"""

from contextlib import AbstractContextManager

from nova_holistic import garbage_collection
from nova_holistic.solver.limits.current import problem as limits


def few_collections() -> AbstractContextManager[None]:
    """A context in which the garbage collector runs at most once for each
    ``collected_objects`` (a limit) new objects."""
    return garbage_collection.few_collections(limits().collected_objects)
