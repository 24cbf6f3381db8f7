# SPDX-License-Identifier: Apache-2.0
"""The answers of the RPC API of engines."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Released:
    """The result of a release.

    :ivar released: paths of members that are free now
    :ivar kept: paths of requested members that belong to a server
    """

    released: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownBinding:
    """A server group of Nova that is bound to a member, or a Heat stack.

    :ivar kind: ``server-group`` or ``heat-stack``
    :ivar target: UUID of the server group, or name or id of the stack
    :ivar path: of a member description; for a stack also of a nested group
    :ivar created_at: ISO 8601, naive UTC
    :ivar status: ``active``; ``deleted`` if Nova has no such server group,
        ``unknown`` if Nova does not answer, ``unchecked`` for a stack
    :ivar rules: pairs of a resource of the stack and a member
    """

    kind: str
    target: str
    path: str
    created_at: str
    status: str
    rules: Sequence[Sequence[str]] = ()

    def to_document(self) -> dict[str, Any]:
        return asdict(self)
