# SPDX-License-Identifier: Apache-2.0
"""The results of the requested servers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of the request for one server.

    :ivar member: path
    :ivar server: UUID
    :ivar host: None: the server has no host
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
        """The outcome from the server in Nova's API."""
        fault = server.get('fault', {}).get('message')
        return cls(member, server['id'], server['status'],
                   server['OS-EXT-SRV-ATTR:host'],
                   ' '.join(fault.split()) if fault else None)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The results for all servers of the group, created by one method.

    :ivar seconds: time from the first request to the last result
    :ivar held: number of members that were held before the first request
    :ivar violations: violations that an independent check found, one line each
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
        """Host of each server that is ACTIVE, by the path of its member."""
        return {o.member: o.host for o in self.active}

    def with_violations(self, lines: Iterable[str]) -> 'Attempt':
        return replace(self, violations=tuple(lines))
