# SPDX-License-Identifier: Apache-2.0
"""A plugin is one entry point, found by its namespace and name."""

from importlib.metadata import entry_points
from typing import Any

from nova_holistic.exceptions import UnknownPlugin


def load(namespace: str, name: str, option: str) -> Any:
    """The class behind an entry point. Only that one is imported.

    :param option: the setting that named it, for the message
    :raises UnknownPlugin: nothing of that name is installed
    """
    found = entry_points(group=namespace)
    for entry_point in found:
        if entry_point.name == name:
            return entry_point.load()
    known = ', '.join(sorted({e.name for e in found})) or 'none'
    raise UnknownPlugin(f'{option}: unknown driver {name!r}; '
                        f'installed are {known}')
