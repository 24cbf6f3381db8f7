# SPDX-License-Identifier: Apache-2.0
"""Rows of hard policies, limited to the possible hosts of their members.

A row for a domain that no member of the policy's scope can reach is redundant.
On large clouds, nearly all rows would be redundant.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nova_holistic.solver.problem.rows import ScopedPolicy
from nova_holistic.solver.problem.rules import distinct, Rules


@dataclass(slots=True)
class ReachableRules(Rules):
    """Rules in which each policy considers only the hosts that some member of
    its scope may be on."""

    def encode(self, policies: Sequence[ScopedPolicy]) -> None:
        for carried in policies:
            reached = np.zeros(len(self.table), dtype=bool)
            for mask in distinct(self.reach[member.path]
                                 for member in carried.scope.members):
                reached |= mask
            self.possible = reached
            self._domains.clear()
            self._has_hosts_outside.clear()
            Rules.encode(self, (carried,))
