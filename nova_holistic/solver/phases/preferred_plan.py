# SPDX-License-Identifier: Apache-2.0
"""Plans of small groups that violate no preference.

If such a plan exists, every better plan violates no preference either.
Therefore, the group with hard policies in place of its preferences has the
same best plans. Its plans and bounds are much easier to find: hard policies
limit the members on a host, and insertion needs no other phase.
"""

import contextlib

from nova_holistic.solver.construct.insertion import insert_members
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.phases.domain_plan import plan_by_domains
from nova_holistic.solver.phases.large import large
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.hard_forms import (
    hard_form, with_hard_forms)
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.search_status import SearchStatus


def with_hard_preferences(known: Incumbent,
                          deadline: Deadline) -> Incumbent | None:
    """Return an incumbent of the group with hard policies in place of its
    preferences, and with a plan of insertion or of dynamic programming, if one
    is found; None if the group has no preferences, the problem is not a small
    group on a large cloud, a preference has no hard form, or each plan
    violates a preference.
    """
    weighted = [each for each in known.policies if not each.policy.hard]
    if not weighted or not is_small(known) or any(
            hard_form(each.policy, each.scope) is None for each in weighted):
        return None
    hard = known.with_group(with_hard_forms(known.group))
    with contextlib.suppress(OutOfTime):
        inserted = insert_members(hard, deadline.part(limits().attempt_share))
        if inserted is not None:
            hard.offer(inserted.where)
            hard.prove(inserted.bound, float('inf'))
    if hard.is_good_enough or plan_by_domains(
            hard, deadline.part(limits().attempt_share)):
        return hard
    return None


def is_small(known: Incumbent) -> bool:
    """Whether the problem is a small group on a large cloud."""
    return len(known.members) <= limits().preferred_members and (
        len(known.snapshot.hosts) > limits().preferred_hosts)


def choose_hosts(task: Task) -> bool:
    """Improve the incumbent of ``with_hard_preferences`` on chosen hosts.
    Return whether it has a plan."""
    if not task.known.is_good_enough:
        with contextlib.suppress(OutOfTime):
            large(task.part(limits().attempt_share))
    return task.known.where is not None


def adopt(known: Incumbent, hard: Incumbent) -> bool:
    """Offer the plan of ``with_hard_preferences`` and its bounds. Return
    whether the plan was accepted and violates no preference: no other phase
    can then find a better plan for another reason."""
    known.solving += hard.solving
    known.offer(hard.where)
    if known.plan_cost[0]:
        return False
    # Better plans violate no preference, so they are plans of ``hard``.
    known.prove(hard.bound, 0)
    if hard.status is SearchStatus.OPTIMAL:
        known.prove_optimal(hard.plan_cost)
    return True
