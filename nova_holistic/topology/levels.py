# SPDX-License-Identifier: Apache-2.0
"""Check that the levels of a tree are distinct, and that the last one is
``host``."""

from collections.abc import Sequence

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.topology.errors import InvalidLevels


def check_levels(levels: Sequence[str],
                 labels: Sequence[str] = ()) -> tuple[str, ...]:
    """The levels, if they form a tree with additional labels.

    :raises InvalidLevels: they do not form a tree
    """
    if not levels or levels[-1] != HOST:
        raise InvalidLevels(f'the last level must be {HOST}, not '
                            f'{levels[-1] if levels else "missing"}')
    names = [*levels, *labels]
    for name in names:
        if not name:
            raise InvalidLevels('a level has no name')
        if names.count(name) > 1:
            raise InvalidLevels(f'{name} is named twice among levels and '
                                f'labels')
    return tuple(levels)
