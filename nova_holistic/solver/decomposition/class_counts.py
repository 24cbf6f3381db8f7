# SPDX-License-Identifier: Apache-2.0
"""Places of kinds on chosen hosts, converted to counts of the classes."""

from dataclasses import replace

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.construct.attempt import Attempt, fullest
from nova_holistic.solver.construct.disaggregation import (
    disaggregate, KindPlaces)
from nova_holistic.solver.decomposition.assignment import assigned_counts
from nova_holistic.solver.decomposition.cells import Cells
from nova_holistic.solver.decomposition.host_assignment import HostAssignment
from nova_holistic.solver.evaluation.rule_counts import RuleCounts
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.numerics.tolerances import EQUAL_COSTS
from nova_holistic.solver.problem.case import Case, Counts, places
from nova_holistic.solver.problem.deadline import Deadline


def class_counts(case: Case, rules: Cells, host_cost: HostCost,
                 assignment: HostAssignment, limit: float,
                 deadline: Deadline) -> Counts | None:
    """Convert the assignment to counts of the classes; None if some member has
    no possible host.

    If rules distinguish members of one kind, assigning one place after another
    usually fails. In this case, one program assigns all of them.

    :param case: of hosts that include those of the assignment
    :param rules: of all hosts
    :param limit: cost of preferences that the counts should not exceed
    """
    hosts = rules.table.indexes(case.table.hosts)
    local = {int(h): n for n, h in enumerate(hosts)}
    taken = [{local[h]: n for h, n in host_counts.items()}
             for host_counts in assignment.taken]
    parts = [rules.parts.of[c.members[0].path] for c in case.classes]
    kinds = [int(rules.parts.kind[part]) for part in parts]
    several = bool(rules.parts.slots)
    kind_places = KindPlaces(kinds, taken, rules.of[hosts])
    if several and not host_cost.slopes:
        found = _assigned(case, kind_places, deadline)
        if found is not None:
            return found
    found = disaggregate(case, replace(
        kind_places, shares=assignment.shares, part_of=parts), deadline)
    # If costs rise with utilisation, there are many hosts with few places
    # each, and assigning one place after another usually succeeds.
    if several and host_cost.slopes and not _within_limit(case, found, limit):
        return _assigned(case, kind_places, deadline) or found
    return found


def _assigned(case: Case, kind_places: KindPlaces,
              deadline: Deadline) -> Counts | None:
    """Assign all places in one program, and place the remaining members
    wherever they fit."""
    found = assigned_counts(case, kind_places.kind_of, kind_places.counts,
                            deadline.part(limits().main_share))
    if found is None or all(
            sum(host_counts.values()) == len(each.members)
            for each, host_counts in zip(case.classes, found)):
        return found
    attempt = Attempt(case, fullest, RuleCounts(case, deadline.check))
    rest = [dict(host_counts) for host_counts in kind_places.counts]
    for c, host in places(found):
        rest[kind_places.kind_of[c]][host] -= 1
        attempt.put(c, host)
    return disaggregate(case, replace(kind_places, counts=rest), deadline,
                        attempt)


def _within_limit(case: Case, counts: Counts | None, limit: float) -> bool:
    """Whether preferences cost at most the limit."""
    return counts is not None and (
        case.preference_cost(case.placement(counts)) <= limit + EQUAL_COSTS)
