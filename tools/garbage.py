# SPDX-License-Identifier: Apache-2.0
"""Less work for Python's search for garbage in processes of Nova.

Python starts a search after 700 new objects. Nova's modules have hundreds of
thousands of objects, so the search takes a tenth of the processor time.
"""

import gc

_ALLOCATIONS = 50_000
"""Number of new objects after which Python searches for garbage."""


def search_rarely() -> None:
    """Search less often."""
    gc.set_threshold(_ALLOCATIONS, 10, 10)


def search_less() -> None:
    """Search less often, and not in the objects that exist already. A search
    would also write to every page of memory that forks share."""
    gc.collect()
    gc.freeze()
    search_rarely()
