# SPDX-License-Identifier: Apache-2.0
"""Better plans and bounds for a group whose plan is not good enough."""

import contextlib

from nova_holistic.solver.construct.batches import is_connected
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.limits.current import phases as limits
from nova_holistic.solver.milp.task import Task
from nova_holistic.solver.phases.few_places import improve_plan
from nova_holistic.solver.phases.host_cover import cover_members
from nova_holistic.solver.phases.host_relaxation import is_diverse
from nova_holistic.solver.phases.large import large, relax, suits_patterns
from nova_holistic.solver.phases.part_bounds import bound_without_policies
from nova_holistic.solver.phases.part_plans import replan_parts
from nova_holistic.solver.problem.deadline import OutOfTime


def find_better_plan(task: Task, settings: Improvement, on_all: bool,
                     only_neighbourhoods: bool = False) -> None:
    """Prove bounds, and improve the plan of the incumbent until it is good
    enough or the time ends.

    :param task: its incumbent has a plan
    :param on_all: whether the plan was found on all hosts, not on chosen hosts
    :param only_neighbourhoods: whether only large-neighbourhood search
        improves the plan
    """
    known, deadline = task.known, task.deadline
    with contextlib.suppress(OutOfTime):
        if on_all and suits_patterns(known) and (
                not is_diverse(known) or is_connected(known)):
            large(task.part(limits().program_share), always=True)
        elif not known.bound:
            relax(known, deadline.part(limits().bound_share))
    with contextlib.suppress(OutOfTime):
        # Without any bound, the gap is 100 %.
        cover_members(known, deadline.part(
            limits().bound_share if known.bound else limits().main_share))
    bound_without_policies(task, on_all, not only_neighbourhoods)
    if not only_neighbourhoods:
        replan_parts(known, deadline.part(limits().main_share))
    improve_plan(task, settings)
