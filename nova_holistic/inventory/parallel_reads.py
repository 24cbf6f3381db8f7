# SPDX-License-Identifier: Apache-2.0
"""Sends the same request for many objects, several at a time."""

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar('T')


def read_each(uuids: Collection[str], read: Callable[[str], T],
              threads: int) -> dict[str, T]:
    """The result of ``read`` for each UUID, in the order of the UUIDs.

    :param threads: number of parallel requests
    :raises Exception: the error of the first failed request
    """
    if threads == 1 or len(uuids) < 2:
        return {uuid: read(uuid) for uuid in uuids}
    with ThreadPoolExecutor(min(threads, len(uuids))) as pool:
        return dict(zip(uuids, pool.map(read, uuids)))
