# SPDX-License-Identifier: Apache-2.0
"""Lists and mappings of YAML while they are read."""

from typing import Any

import yaml


class Measures:
    """
    :ivar size: number of values, including the value itself
    :ivar height: number of nested levels, including the value itself
    :ivar characters: number of characters of all its text
    """

    __slots__ = ('size', 'height', 'characters')

    def __init__(self, size: int, height: int, characters: int):
        self.size = size
        self.height = height
        self.characters = characters


class Collection:
    """A list or mapping that is not read completely.

    :ivar measures: its current measures
    """

    __slots__ = ('event', 'value', 'measures', 'key')

    def __init__(self, event: yaml.CollectionStartEvent, value: Any):
        self.event = event
        self.value = value
        self.measures = Measures(1, 1, 0)
        self.key: str | None = None

    @property
    def expects_key(self) -> bool:
        return isinstance(self.value, dict) and self.key is None

    def add(self, value: Any, measures: Measures) -> bool:
        """Add a value. Returns False for a duplicate key of a mapping."""
        whole = self.measures
        whole.size += measures.size
        whole.height = max(whole.height, measures.height + 1)
        whole.characters += measures.characters
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is not None:
            self.value[self.key] = value
            self.key = None
        elif value in self.value:
            return False
        else:
            self.key = value
        return True
