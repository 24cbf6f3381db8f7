# SPDX-License-Identifier: Apache-2.0
"""The members below the group use at most n domains of the level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pulp

from nova_holistic.model.domain import HOST
from nova_holistic.model.group import Scope
from nova_holistic.model.policy import Encoder, Policy, Violations
from nova_holistic.model.snapshot import Host, Snapshot


@dataclass(frozen=True, kw_only=True)
class MaxDomains(Policy):
    """The members below the group use at most n domains of the level.

    For what is paid for by the host, or by the rack. Weighted, each domain
    beyond is one violation.
    """

    # What a document says: {type: max-domains, level: rack, number: 2}.

    type: ClassVar[str] = 'max-domains'
    keys: ClassVar[Mapping[str, Any]] = {
        'level': {'type': 'string', 'minLength': 1, 'maxLength': 255},
        'number': {'type': 'integer', 'minimum': 1, 'maximum': 10_000},
    }
    required: ClassVar[Sequence[str]] = ('number',)

    number: int
    level: str = HOST

    @property
    def levels(self) -> Sequence[str]:
        return (self.level,)

    # Judging a finished placement.

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        used = {snapshot.domain(placement[member.path], self.level)
                for member in scope.members if member.path in placement}
        # Hosts in no domain of the level are in none that is counted.
        names = sorted(str(domain) for domain in used - {None})
        beyond = max(0, len(names) - self.number)
        return Violations(beyond, (
            f'members are in {len(names)} domains of level {self.level}, '
            f'{self.number} are allowed: {", ".join(names)}',
        ) if beyond else ())

    # Persuading the solver.

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        domains = encoder.domains(self.level)
        used = pulp.lpSum(encoder.used(scope, domain) for domain in domains)
        if self.hard:
            # No more domains hold members than are allowed.
            encoder.require(used <= self.number)
            return
        # The domains beyond; never below zero.
        beyond = encoder.integer(
            f'max-domains {self.level} {scope.path}', len(domains))
        encoder.require(beyond >= used - self.number)
        encoder.penalise(self, scope, beyond)
