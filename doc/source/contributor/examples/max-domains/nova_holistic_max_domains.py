# SPDX-License-Identifier: Apache-2.0
"""The members below the group use at most n domains of the level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pulp

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.group import Scope
from nova_holistic.model.policy import Encoder, Policy, Violations


@dataclass(frozen=True, kw_only=True)
class MaxDomains(Policy):
    """The members below the group use at most n domains of the level.

    It limits, for example, licences that are paid per host or per rack. If the
    policy has a weight, each domain beyond n is one violation.
    """

    # In a document: {type: max-domains, level: rack, number: 2}.

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

    # Check of a finished placement.

    def check(self, scope: Scope, placement: Mapping[str, Host],
              snapshot: Snapshot) -> Violations:
        used = {snapshot.domain(placement[member.path], self.level)
                for member in scope.members if member.path in placement}
        # Hosts in no domain of the level do not count.
        names = sorted(str(domain) for domain in used - {None})
        beyond = max(0, len(names) - self.number)
        return Violations(beyond, (
            f'members are in {len(names)} domains of level {self.level}, and '
            f'the limit is {self.number}: {", ".join(names)}',
        ) if beyond else ())

    # Encoding for the solver.

    def encode(self, scope: Scope, encoder: Encoder) -> None:
        domains = encoder.domains(self.level)
        used = pulp.lpSum(encoder.used(scope, domain) for domain in domains)
        if self.hard:
            # At most the allowed number of domains contain members.
            encoder.require(used <= self.number)
            return
        # The number of domains beyond the limit; never below zero.
        beyond = encoder.integer(
            f'max-domains {self.level} {scope.path}', len(domains))
        encoder.require(beyond >= used - self.number)
        encoder.penalise(self, scope, beyond)
