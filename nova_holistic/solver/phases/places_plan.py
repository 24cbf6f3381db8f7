# SPDX-License-Identifier: Apache-2.0
"""Plans with few hosts, from the places of a relaxation without policies.

Column generation finds the hosts that all members need together, and the
members of each kind on each of them. Policies on domains prevent some of these
places. Therefore, greedy construction places the members, and uses such a
place where the policies permit it. Without these places, each batch uses the
hosts that suit its own members best, and leaves capacity that no later batch
can use.
"""

import contextlib

from nova_holistic.solver.construct.batches import batches
from nova_holistic.solver.construct.by_batches import BatchConstruction
from nova_holistic.solver.limits.current import construct as limits
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.ruin_recreate.part_search import ruin_and_recreate


def plan_on_places(known: Incumbent, deadline: Deadline) -> None:
    """Construct a plan whose members first use the places that a relaxation
    has stored in the incumbent, and offer it to the incumbent. Nothing is done
    without such places.

    :param known: an incumbent that has a plan
    """
    if known.kind_places is None or known.is_good_enough:
        return
    found = known.with_group(known.group)
    with contextlib.suppress(OutOfTime):
        construction = BatchConstruction(
            found, HostTable.of(known.snapshot), deadline, deadline,
            known.kind_places)
        if not construction.place(batches(
                known, limits().batch_members, constructs=True)):
            return
        found.offer(construction.where)
        if not known.offer(found.where) and (
                found.plan_cost[1] < known.plan_cost[1]):
            # It violates further preferences, but few members have to move.
            ruin_and_recreate(found, deadline)
            known.offer(found.where)
