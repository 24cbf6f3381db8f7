# SPDX-License-Identifier: Apache-2.0
"""The common part of policies for the domains of one level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.policy import Policy

LEVEL = {'level': {'type': 'string', 'minLength': 1, 'maxLength': 255}}
"""The key ``level`` in the schema of a policy."""


@dataclass(frozen=True, kw_only=True)
class LevelPolicy(Policy):
    """The base class of policies for the domains of one level. The default
    level is host."""

    keys: ClassVar[Mapping[str, Any]] = LEVEL

    level: str = HOST

    @property
    def levels(self) -> Sequence[str]:
        return (self.level,)

    def outside(self, path: str, host: Host) -> MarkedText:
        """The message for a member that is in no domain."""
        return format_message(
            '{} is on host {:name}, which is in no domain of level {}',
            path, host.name, self.level)
