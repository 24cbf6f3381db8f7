# SPDX-License-Identifier: Apache-2.0
"""The preferences that a plan satisfies, as hard policies."""

from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.incumbent import Incumbent


def with_satisfied_hard(known: Incumbent) -> Incumbent:
    """The incumbent, which has a plan, with a hard policy in place of each
    preference that this plan does not violate. No plan of it violates further
    preferences, and hard policies of members of other parts can close hosts.
    """
    kept = known.with_group(with_hard_forms(
        known.group, lambda policy, scope: not policy.check(
            scope, known.where, known.snapshot).count))
    kept.offer(known.where)
    return known if kept.where is None else kept
