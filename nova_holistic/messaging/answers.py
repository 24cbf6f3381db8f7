# SPDX-License-Identifier: Apache-2.0
"""The answers of the RPC API of engines."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Released:
    """What a release did.

    :ivar released: paths of members that are free now
    :ivar kept: paths of requested members that belong to a server
    """

    released: tuple[str, ...]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownBinding:
    """A server group of Nova that is bound to a member.

    :ivar kind: ``server-group``
    :ivar target: UUID of the server group
    :ivar path: of a member description
    :ivar created_at: ISO 8601, naive UTC
    :ivar status: ``active``; ``deleted`` if Nova has no such server group,
        ``unknown`` if Nova does not answer
    """

    kind: str
    target: str
    path: str
    created_at: str
    status: str

    def to_document(self) -> dict[str, Any]:
        return asdict(self)
