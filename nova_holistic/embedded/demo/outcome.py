# SPDX-License-Identifier: Apache-2.0
"""The results of the requested servers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """One server, when Nova was done with it.

    :ivar member: path
    :ivar server: UUID
    :ivar host: None where it is on none
    :ivar fault: Nova's fault message for a server in ERROR
    """

    member: str
    server: str
    status: str
    host: str | None
    fault: str | None = None

    @property
    def active(self) -> bool:
        return self.status == 'ACTIVE'

    @classmethod
    def of(cls, member: str, server: Mapping[str, Any]) -> 'Outcome':
        """Read what Nova's API shows of the server."""
        fault = server.get('fault', {}).get('message')
        return cls(member, server['id'], server['status'],
                   server['OS-EXT-SRV-ATTR:host'],
                   ' '.join(fault.split()) if fault else None)


@dataclass(frozen=True, slots=True)
class Attempt:
    """All servers of one way to ask for them.

    :ivar seconds: from the first request to the last answer
    :ivar held: how many places were held before the first request
    :ivar violations: what an independent check objects to, one line each
    """

    name: str
    outcomes: tuple[Outcome, ...]
    seconds: float
    held: int = 0
    violations: tuple[str, ...] = ()

    @property
    def active(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.outcomes if o.active)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.outcomes if not o.active)

    def hosts(self) -> dict[str, str]:
        """Member path to host, of the servers that are ACTIVE."""
        return {o.member: o.host for o in self.active}

    def with_violations(self, lines: Iterable[str]) -> 'Attempt':
        return replace(self, violations=tuple(lines))
