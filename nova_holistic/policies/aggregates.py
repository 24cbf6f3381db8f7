# SPDX-License-Identifier: Apache-2.0
"""All members below the group are on hosts that are in all named aggregates.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.policy import Encoder, Policy, Violations


@dataclass(frozen=True, kw_only=True)
class Aggregates(Policy):
    """All members below the group are on hosts that are in all named
    aggregates.

    With a weight, each member on another host is one violation, regardless of
    the number of missing aggregates.
    """

    type: ClassVar[str] = 'aggregates'
    counts_servers: ClassVar[bool] = False
    counts_all: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    local: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Any]] = {
        'aggregates': {
            'type': 'array',
            'description': 'a list of different aggregates, at least one',
            'minItems': 1,
            'maxItems': 1000,
            'items': {
                'type': 'string',
                'description': '1 to 255 characters, none of them a control '
                               'character',
                'pattern': r'^[^\x00-\x1f\x7f\ud800-\udfff]{1,255}\Z',
            },
            'uniqueItems': True,
        },
    }
    required = ('aggregates',)

    names: frozenset[str]

    @classmethod
    def from_document(cls, keys: Mapping[str, Any], *, weight: float | None,
                      place: str) -> 'Aggregates':
        return cls(names=frozenset(keys['aggregates']), weight=weight,
                   place=place)

    @property
    def summary(self) -> str:
        return format_message('{} {:name}', self.type, sorted(self.names))

    def admits(self, host: Host) -> bool:
        return not self.hard or self.names <= host.aggregates

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        wrong = []
        for member in scope.members:
            if member.path not in placement:
                continue
            host = placement[member.path]
            missing = sorted(n for n in self.names if n not in host.aggregates)
            if missing:
                wrong.append((member.path, host, missing))
        return Violations.of(len(wrong), self._messages, wrong)

    @staticmethod
    def _messages(wrong: Iterable[tuple[str, Host, list[str]]]
                  ) -> Iterator[MarkedText]:
        for path, host, missing in wrong:
            yield format_message(
                '{} is on host {:name}, which is not in aggregate '
                '{:name}', path, host.name, missing)

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {HOST: True} if scope.holds(member) else {}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        unfit = encoder.among(scope, [
            host for host in encoder.candidates(scope)
            if not self.names <= host.aggregates])
        if self.hard:
            # No member is on a host outside one of the aggregates.
            encoder.require(unfit == 0)
        else:
            encoder.penalise(self, scope, unfit)
