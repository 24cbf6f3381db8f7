# SPDX-License-Identifier: Apache-2.0
"""A proof by a relaxation that a group has no plan.

Policies on few domains can contradict each other although each of them permits
a plan. Counting tests each policy alone, and a program of all hosts may take
longer than the time limit. The relaxation has the policies on few domains and
merged hosts, so its linear program takes a fraction of a second.
"""

from nova_holistic.model.objective import HostCost
from nova_holistic.solver.decomposition.aggregation import HostAggregation
from nova_holistic.solver.decomposition.cells import cells
from nova_holistic.solver.decomposition.cohesive_kinds import CohesiveKinds
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.kinds import Kinds


def has_no_plan(case: Case, deadline: Deadline) -> bool:
    """Whether a relaxation proves within the time that a case has no plan.

    The relaxation contains all members and all hosts of the snapshot.
    Preferences do not restrict it.
    """
    hosts = case.table.hosts
    placed = {path: hosts[h].name for path, h in case.placed.items()}
    try:
        kinds = Kinds.of(case.group, case.snapshot, placed, deadline.check)
        if kinds is None or not kinds.kinds or kinds.lacks_room:
            return kinds is not None and kinds.lacks_room
        parts = CohesiveKinds.of(kinds, cells(kinds, deadline.check))
    except OutOfTime:
        return False
    return HostAggregation(
        parts.kinds, parts.cells, HostCost(lambda free: free * 0 + 1.0),
        deadline).is_impossible()
