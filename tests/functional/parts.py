# SPDX-License-Identifier: Apache-2.0
"""Division of the tests with an embedded cloud into parts of similar size,
because only one cloud can run in a process.

pytest-xdist is not used: its workers wait for tests with an event of the
threading module, which eventlet replaces, and another thread sets it. Such a
worker can miss the event, and then it waits forever.
"""

import re

import pytest

_PART = re.compile(r'([1-9])/([1-9])')


def read_part(text):
    """Return (part, parts) of a text such as ``1/2``. Raises UsageError."""
    match = _PART.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise pytest.UsageError(
            f'--part {text}: expected a part and the number of parts, such '
            f'as 1/2')
    return int(match[1]), int(match[2])


def modules_of_part(numbers, part, parts):
    """Return the set of the modules of a part.

    ``numbers`` is a mapping from a module to its number of tests. Each module
    is in exactly one part. The order of the mapping has no influence.
    """
    sizes = [0] * parts
    chosen = set()
    for module in sorted(numbers, key=lambda name: (-numbers[name], name)):
        smallest = min(range(parts), key=sizes.__getitem__)
        sizes[smallest] += numbers[module]
        if smallest == part - 1:
            chosen.add(module)
    return chosen
