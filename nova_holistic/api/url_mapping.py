# SPDX-License-Identifier: Apache-2.0
"""The URLs of the paths of the table of routes in this deployment."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class UrlMapping:
    """Prefixes of paths, and their replacements.

    :ivar moved: e.g. ``/v1/groups`` to ``/os-holistic-groups``; if empty,
        every path is used unchanged
    :ivar only: whether only the replaced paths exist
    """

    moved: Mapping[str, str] = FrozenMapping()
    only: bool = False

    def of(self, path: str) -> str:
        """The URL path for that path of the table."""
        for old, new in self.moved.items():
            if path == old or path.startswith(old + '/'):
                return new + path.removeprefix(old)
        return path

    def has(self, path: str) -> bool:
        """Whether that path of the table exists in this deployment."""
        return not self.only or self.of(path) != path
