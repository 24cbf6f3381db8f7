# SPDX-License-Identifier: Apache-2.0
"""Errors of a topology."""

from nova_holistic.exceptions import HolisticError, InvalidDocument


class InvalidLevels(HolisticError):
    """The configured levels do not form a tree."""


class InvalidFile(InvalidDocument):
    """A file of the operator is invalid. The position contains its path."""


class AmbiguousLocation(HolisticError):
    """Two aggregates give one host two names at one level."""

    def __init__(self, host: str, level: str,
                 first: tuple[str, str], second: tuple[str, str]):
        """:param first: an aggregate, and the name of the domain in its
        metadata"""
        self.host = host
        self.level = level
        (one, name), (other, another) = sorted((first, second))
        super().__init__(
            f'host {host} is in two domains of level {level}: aggregate '
            f'{one} says {name!r}, aggregate {other} says {another!r}')
