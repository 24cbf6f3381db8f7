# SPDX-License-Identifier: Apache-2.0
"""The idempotency keys of the parts of a parent's groups."""

from dataclasses import dataclass
import re

_KEY = re.compile(
    r'(?P<parent>[A-Za-z0-9_.]{1,32})'
    r'-(?P<group>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
    r'-(?P<run>[0-9a-f]{6}-[0-9]{1,9}(?:\.(?P<parts>[0-9]{1,9}))?)'
    r'-(?P<child>[A-Za-z0-9_.-]{1,64})')


@dataclass(frozen=True, slots=True)
class PartKey:
    """A key of the form ``PARENT-GROUP-RANDOM-TRY.PARTS-CHILD``.

    :ivar parent: identifier of the parent
    :ivar group: UUID of the parent's group
    :ivar run: ``RANDOM-TRY.PARTS``, the same for all parts of one try
    :ivar child: name of the child
    :ivar number: number of these parts; None: a parent of an earlier release
        wrote the key
    """

    parent: str
    group: str
    run: str
    child: str
    number: int | None


def parse_key(text: str | None) -> PartKey | None:
    """The parts of a key; None: no parent has written the key."""
    found = text and _KEY.fullmatch(text)
    if not found:
        return None
    values = found.groupdict()
    number = values.pop('parts')
    return PartKey(**values, number=None if number is None else int(number))
