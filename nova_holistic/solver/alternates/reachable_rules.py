# SPDX-License-Identifier: Apache-2.0
"""Rows of hard policies, limited to the possible hosts of their members.

A row for a domain that no member of the policy's scope can reach is redundant.
On large clouds, nearly all rows would be redundant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.rules import Rules


@dataclass(slots=True)
class ReachableRules(Rules):
    """Rules in which each policy considers only the hosts that some member of
    its scope may be on."""

    def encode(self, policies: Sequence[ScopedPolicy]) -> None:
        for carried in policies:
            self.possible = self.reached(carried.scope)
            self._domains.clear()
            self._has_hosts_outside.clear()
            Rules.encode(self, (carried,))
