# SPDX-License-Identifier: Apache-2.0
"""Lists and mappings of YAML while they are read."""

from typing import Any

import yaml


class Measures:
    """
    :ivar size: values in a value, itself included
    :ivar height: levels of lists and mappings in it, itself included
    :ivar characters: of all its text
    """

    __slots__ = ('size', 'height', 'characters')

    def __init__(self, size: int, height: int, characters: int):
        self.size = size
        self.height = height
        self.characters = characters


class Collection:
    """A list or mapping whose end has not been read.

    :ivar measures: of it so far
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
        """Whether it could be added: a mapping takes each key once."""
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
