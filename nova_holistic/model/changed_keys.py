# SPDX-License-Identifier: Apache-2.0
"""Compares two states of a group."""

from collections.abc import Collection, Iterator, Mapping
import itertools
import operator
from typing import Any, TypeVar

Key = TypeVar('Key')


def changed_keys(keys: Collection[Key], before: Mapping[Key, Any],
                 now: Mapping[Key, Any]) -> Iterator[Key]:
    """Those of the keys whose values in the mappings are not the same object.

    In a group with many members, few have changed. So the functions that
    visit each member are those of the interpreter, and no value is read.
    """
    return itertools.compress(keys, map(
        operator.is_not, map(before.get, keys), map(now.get, keys)))
