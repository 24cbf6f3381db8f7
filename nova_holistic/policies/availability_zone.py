# SPDX-License-Identifier: Apache-2.0
"""All members below the group are on hosts of one availability zone."""

from collections.abc import Callable, Iterable, Iterator, Mapping
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
class AvailabilityZone(Policy):
    """All members below the group are on hosts of one availability zone.

    The zone is Nova's, independent of the names of the topology's levels. With
    a weight, each member in another zone is one violation.
    """

    type: ClassVar[str] = 'availability_zone'
    counts_servers: ClassVar[bool] = False
    counts_all: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    local: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Any]] = {
        'availability_zone': {
            'type': 'string',
            'description': '1 to 255 characters, none of them a control '
                           'character',
            'pattern': r'^[^\x00-\x1f\x7f\ud800-\udfff]{1,255}\Z',
        },
    }
    required = ('availability_zone',)

    zone: str

    @classmethod
    def from_document(cls, keys: Mapping[str, Any], *, weight: float | None,
                      place: str) -> 'AvailabilityZone':
        return cls(zone=keys['availability_zone'], weight=weight, place=place)

    @property
    def summary(self) -> str:
        return format_message('{} {}', self.type, self.zone)

    def admits(self, host: Host) -> bool:
        return not self.hard or host.availability_zone == self.zone

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        found = [(m.path, placement[m.path]) for m in scope.members
                 if m.path in placement]
        wrong = [(path, host) for path, host in found
                 if host.availability_zone != self.zone]
        return Violations.of(len(wrong), self._messages, wrong)

    def allows_another(self, scope: Scope, placed: PlacedMembers,
                       snapshot: Snapshot) -> Callable[[Host], bool]:
        return lambda host: host.availability_zone == self.zone

    def _messages(self,
                  wrong: Iterable[tuple[str, Host]]) -> Iterator[MarkedText]:
        for path, host in wrong:
            yield format_message(
                '{} is on host {:name} in availability zone {:name}, '
                'not {}', path, host.name,
                host.availability_zone or None, self.zone)

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {HOST: True} if scope.holds(member) else {}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        unfit = encoder.among(scope, [
            host for host in encoder.candidates(scope)
            if host.availability_zone != self.zone])
        if self.hard:
            # No member is in another zone.
            encoder.require(unfit == 0)
        else:
            encoder.penalise(self, scope, unfit)
