# SPDX-License-Identifier: Apache-2.0
"""All members below the group are below one vertex of the topology."""

from collections.abc import (
    Callable, Iterable, Iterator, Mapping, Sequence)
from dataclasses import dataclass
from typing import Any, ClassVar

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.policy import Encoder, Policy, Violations


@dataclass(frozen=True, kw_only=True)
class Location(Policy):
    """All members below the group are below one vertex of the topology.

    With a weight, each member on another host is one violation.

    :ivar path: names from the root down to the vertex, which may be a host
    """

    type: ClassVar[str] = 'location'
    counts_servers: ClassVar[bool] = False
    counts_all: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    local: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Any]] = {
        'path': {
            'type': 'string',
            'description': 'names from coarse to fine, joined by single '
                           'slashes',
            'maxLength': 2048,
            'pattern': r'^[^/\x00-\x1f\x7f]+(/[^/\x00-\x1f\x7f]+)*\Z',
        },
    }
    required = ('path',)

    path: tuple[str, ...]

    @classmethod
    def from_document(cls, keys: Mapping[str, Any], *, weight: float | None,
                      place: str) -> 'Location':
        return cls(path=tuple(keys['path'].split('/')), weight=weight,
                   place=place)

    @property
    def summary(self) -> str:
        return format_message('{} {:name}', self.type, '/'.join(self.path))

    @property
    def vertex(self) -> Sequence[str]:
        return self.path

    def admits(self, host: Host) -> bool:
        return not self.hard or self._above(host)

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        prefix = '/'.join(self.path) + '/'
        wrong = []
        for member in scope.members:
            if member.path not in placement:
                continue
            host = placement[member.path]
            vertex = '/'.join((*host.location, host.name))
            if not (vertex + '/').startswith(prefix):
                wrong.append((member.path, vertex))
        return Violations.of(len(wrong), self._messages, wrong)

    def allows_another(self, scope: Scope, placed: PlacedMembers,
                       snapshot: Snapshot) -> Callable[[Host], bool]:
        prefix = '/'.join(self.path) + '/'
        return lambda host: '/'.join(
            (*host.location, host.name, '')).startswith(prefix)

    def _messages(self,
                  wrong: Iterable[tuple[str, str]]) -> Iterator[MarkedText]:
        for path, vertex in wrong:
            yield format_message('{} is on host {:name}, not below {:name}',
                                 path,
                                 vertex, '/'.join(self.path))

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {HOST: True} if scope.holds(member) else {}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        elsewhere = encoder.among(scope, [
            host for host in encoder.candidates(scope)
            if not self._above(host)])
        if self.hard:
            # No member is on another host.
            encoder.require(elsewhere == 0)
        else:
            encoder.penalise(self, scope, elsewhere)

    def _above(self, host: Host) -> bool:
        vertex = (*host.location, host.name)
        return vertex[:len(self.path)] == self.path
