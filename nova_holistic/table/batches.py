# SPDX-License-Identifier: Apache-2.0
"""Lists of values in pieces that fit into one SQL statement.

Databases limit the number of a statement's parameters. SQLite before 3.32
accepts 999, and PostgreSQL's protocol accepts 65,535.
"""

from collections.abc import Collection, Iterator
from typing import TypeVar

MAX_BATCH_SIZE = 500
"""Maximum number of values in one ``IN`` list."""

Value = TypeVar('Value')


def batches(values: Collection[Value],
            size: int = MAX_BATCH_SIZE) -> Iterator[list[Value]]:
    """The values in their order, in lists of at most ``size``."""
    ordered = list(values)
    for start in range(0, len(ordered), size):
        yield ordered[start:start + size]
