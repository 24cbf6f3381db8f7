# SPDX-License-Identifier: Apache-2.0
"""A plan on some hosts with much free capacity, in case the time ends before a
better plan is found, or in case better plans violate preferences.

The construction takes much less time than a search for a good plan. It is
still expensive, so it starts only if the time may be too short. Hard policies
replace the preferences first: placed one after another, hundreds of members
hardly ever satisfy a preference that concerns all of them.
"""

from collections.abc import Sequence
import contextlib

import numpy as np

from nova_holistic.model.group import Group
from nova_holistic.solver.construct.attempt import Attempt, fullest, LookAhead
from nova_holistic.solver.construct.greedy import plans
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import construct as limits, phases
from nova_holistic.solver.problem.case import Case, Counts
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.hard_forms import with_hard_forms
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.kinds import Kinds
from nova_holistic.solver.problem.subproblem import Subproblem


class FallbackPlan:
    """A plan on some hosts. It is constructed at most once, and only if no
    plan is known, or if the plan violates preferences."""

    def __init__(self, kinds: Kinds, incumbent: Incumbent,
                 deadline: Deadline, longest: Deadline | None):
        """
        :param incumbent: the incumbent, which receives the plan
        :param longest: the latest deadline of the construction; after a plan
            is found, ``deadline`` is extended by a share of the time left
        """
        self._kinds, self._incumbent = kinds, incumbent
        self._deadline, self._longest = deadline, longest
        self._was_tried = False

    def construct_after(self, after: float) -> None:
        """Construct the plan, unless this was done before or the cost of the
        known plan's preferences is within the gap.

        :param after: share of the time limit before which nothing is done
        """
        known = self._incumbent
        if self._was_tried or known.is_preferred or (
                self._deadline.elapsed() < after * self._deadline.limit):
            return
        self._was_tried = True
        deadline = (self._longest
                    or self._deadline).part(phases().main_share)
        if known.has_preferences:
            self._construct(with_hard_forms(self._kinds.group),
                            deadline.part(phases().attempt_share), False)
        if known.where is None:
            self._construct(self._kinds.group, deadline, True)
        if known.where is not None and self._longest is not None:
            self._extend(self._longest.part(phases().main_share))

    def _construct(self, group: Group, deadline: Deadline,
                   with_checks: bool) -> None:
        """Offer a plan of the group on some hosts to the incumbent, if one is
        found in time.

        :param with_checks: whether checks of policies help to find a plan if
            none is found without them
        """
        known, kinds = self._incumbent, self._kinds
        with contextlib.suppress(OutOfTime):
            case = known.case(deadline.check, Subproblem(
                kinds.table.part(hosts_with_room(kinds)), constructs=True),
                group)
            counts = _plan_without_checks(case, deadline)
            if counts is not None:
                known.offer(case.placement(counts))
            elif with_checks:
                for found in plans(case, deadline):
                    known.offer(case.placement(found))

    def _extend(self, later: Deadline) -> None:
        if later.left() > self._deadline.left():
            self._deadline.extend(later)


def _plan_without_checks(case: Case, deadline: Deadline) -> Counts | None:
    """A plan that is constructed without checks of policies before the end;
    None if no plan was found.

    A host is chosen for one member of a class, and filled with members of the
    class as far as the rules allow. The checks of policies run only at the
    end, because they take minutes for thousands of members."""
    rule_counts = RuleCounts(case, deadline.check)
    look_ahead = LookAhead(case, uses_checks=False)
    # Classes with the fewest possible hosts come first.
    order = sorted(range(len(case.classes)), key=lambda c: (
        int((case.room[c] > 0).sum()), -len(case.classes[c].scopes), c))
    for _ in range(limits().further_restarts):
        attempt = Attempt(case, fullest, rule_counts, look_ahead)
        failed = _place_all(attempt, order, deadline)
        attempt.undo()
        if failed is None:
            return attempt.counts if case.is_plan(attempt.counts) else None
        order.remove(failed)
        order.insert(0, failed)
    return None


def _place_all(attempt: Attempt, order: Sequence[int],
               deadline: Deadline) -> int | None:
    """Place all members; return the first class without a possible host, or
    None."""
    case = attempt.case
    left = {c: len(case.classes[c].members) for c in order}
    no_members = np.zeros(len(case.table))
    while left:
        deadline.check()
        found = attempt.first_possible(left, lambda c: no_members)
        if found is None:
            return next(iter(left))
        c, host = found
        left[c] -= _fill(attempt, c, host, min(
            left[c], int(case.room[c, host]) - attempt.counts[c].get(host, 0)))
        if not left[c]:
            del left[c]
    return None


def _fill(attempt: Attempt, c: int, host: int, left: int) -> int:
    """Put a member of the class on the host, and further members while the
    host has room and the cost does not rise; return their number.

    :param left: maximum number of members
    """
    cost = attempt.rule_counts.at(c, host)[1]
    attempt.put(c, host)
    needs = attempt.needs(c)
    asked = needs > 0
    number, most = 1, 1 + min(
        [left - 1, *(attempt.free[asked, host] // needs[asked]).tolist()])
    while number < most:
        allowed, now = attempt.rule_counts.at(c, host)
        if not allowed or now > cost:
            break
        attempt.put(c, host)
        number += 1
    return number


def hosts_with_room(kinds: Kinds) -> np.ndarray:
    """Indexes of some hosts with room, from all locations, in ascending order.
    They include the hosts of members that stay."""
    with np.errstate(divide='ignore'):
        # The share of the group that fits on a host, if this share is the same
        # for all kinds.
        share = 1 / (kinds.numbers[:, None] / np.maximum(
            kinds.room, 0.1)).sum(axis=0)
    some = np.flatnonzero((kinds.room > 0).any(axis=0))
    some = kinds.table.alternated(
        some[np.argsort(-share[some], kind='stable')])
    # Take enough hosts for each kind, and for all kinds together.
    total = np.minimum(share[some].cumsum(), (
        kinds.room[:, some].cumsum(axis=1) / kinds.numbers[:, None]).min(
            axis=0, initial=np.inf))
    number = int(np.searchsorted(total, limits().fallback_copies)) + 1
    return np.union1d(some[:min(max(number, limits().fewest_fallback_hosts),
                                limits().all_hosts)], kinds.placed_hosts)
