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
    """``PARENT-GROUP-RANDOM-TRY.PARTS-CHILD``.

    :ivar group: UUID of the parent's group
    :ivar run: the same for all parts that one try created
    :ivar number: of these parts; None: a parent of an earlier release wrote
        the key
    """

    parent: str
    group: str
    run: str
    child: str
    number: int | None


def parse_key(text: str | None) -> PartKey | None:
    """None: no parent has written the key."""
    found = text and _KEY.fullmatch(text)
    if not found:
        return None
    values = found.groupdict()
    number = values.pop('parts')
    return PartKey(**values, number=None if number is None else int(number))
