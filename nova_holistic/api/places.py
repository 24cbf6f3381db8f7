# SPDX-License-Identifier: Apache-2.0
"""Where the paths of the table of routes are, in this deployment."""

from collections.abc import Mapping
from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class Places:
    """Beginnings of paths, and what stands in their stead.

    :ivar moved: e.g. ``/v1/groups`` to ``/os-holistic-groups``; empty leaves
        every path as the table has it
    :ivar only: whether there are no other paths than those moved
    """

    moved: Mapping[str, str] = FrozenMapping()
    only: bool = False

    def of(self, path: str) -> str:
        """Where that path of the table is."""
        for old, new in self.moved.items():
            if path == old or path.startswith(old + '/'):
                return new + path.removeprefix(old)
        return path

    def has(self, path: str) -> bool:
        """Whether that path of the table is anywhere."""
        return not self.only or self.of(path) != path
