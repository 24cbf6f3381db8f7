# SPDX-License-Identifier: Apache-2.0
"""All members below the group are on hosts with some traits and without
others."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.members.member import Member
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.policy import Encoder, Policy, Violations

_NAMES = {
    'type': 'array',
    'description': 'a list of different traits, at least one',
    'minItems': 1,
    'maxItems': 1000,
    'items': {
        'type': 'string',
        'description': 'the name of a trait: capitals, digits and _',
        'pattern': r'^[A-Z0-9_]{1,255}\Z',
    },
    'uniqueItems': True,
}


@dataclass(frozen=True, kw_only=True)
class Traits(Policy):
    """All members below the group are on hosts that have each required trait
    and no forbidden one.

    With a weight, each member on another host is one violation, regardless of
    the number of wrong traits.
    """

    type: ClassVar[str] = 'traits'
    counts_servers: ClassVar[bool] = False
    counts_all: ClassVar[bool] = False
    monotone: ClassVar[bool] = True
    keys: ClassVar[Mapping[str, Any]] = {
        'required': _NAMES, 'forbidden': _NAMES}

    has: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()

    @classmethod
    def from_document(cls, keys: Mapping[str, Any], *, weight: float | None,
                      place: str) -> 'Traits':
        if not keys:
            raise InvalidDocument(
                place, 'required or forbidden is missing')
        has = frozenset(keys.get('required', ()))
        for i, trait in enumerate(keys.get('forbidden', ())):
            if trait in has:
                raise InvalidDocument(
                    f'{place}.forbidden[{i}]', f'{trait} is also required')
        return cls(has=has, lacks=frozenset(keys.get('forbidden', ())),
                   weight=weight, place=place)

    @property
    def traits(self) -> frozenset[str]:
        return self.has | self.lacks

    @property
    def summary(self) -> str:
        names = [*sorted(self.has), *(f'not {t}' for t in sorted(self.lacks))]
        return MarkedText(f'{self.type} {", ".join(names)}')

    def admits(self, host: Host) -> bool:
        return not self.hard or self._suits(host)

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        found = [(m.path, placement[m.path]) for m in scope.members
                 if m.path in placement]
        wrong = [each for each in found if not self._suits(each[1])]
        return Violations.of(len(wrong), self._messages, wrong)

    def _messages(self,
                  wrong: Iterable[tuple[str, Host]]) -> Iterator[MarkedText]:
        for path, host in wrong:
            why = [
                *(f'lacks trait {t}' for t in sorted(self.has)
                  if t not in host.traits),
                *(f'has the forbidden trait {t}' for t in sorted(self.lacks)
                  if t in host.traits)]
            yield format_message('{} is on host {:name}, which {}', path,
                                 host.name,
                                 ' and '.join(why))

    def distinguishes(self, scope: Scope, member: Member) -> dict[str, bool]:
        return {HOST: True} if scope.holds(member) else {}

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        unfit = encoder.among(scope, [
            host for host in encoder.candidates(scope)
            if not self._suits(host)])
        if self.hard:
            # No member is on an unsuitable host.
            encoder.require(unfit == 0)
        else:
            encoder.penalise(self, scope, unfit)

    def _suits(self, host: Host) -> bool:
        return self.has <= host.traits and self.lacks.isdisjoint(host.traits)
