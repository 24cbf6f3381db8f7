# SPDX-License-Identifier: Apache-2.0
"""Find the reasons of a group that cannot be placed within the time limit."""

from collections.abc import Sequence

from nova_holistic.model.plan import Reason
from nova_holistic.solver.diagnosis.iis import find_iis
from nova_holistic.solver.diagnosis.wording import reasons, unreduced_reasons
from nova_holistic.solver.milp.backend import Backend
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline, OutOfTime
from nova_holistic.solver.problem.rows import ScopedPolicy


def find_reasons(case: Case, backend: Backend, deadline: Deadline,
                 conflict: Sequence[ScopedPolicy] | None
                 ) -> tuple[tuple[Reason, ...], bool]:
    """Return the reasons, and whether they are minimal: without any of them,
    the group could be placed.

    :param conflict: policies that exclude every plan, if they are known
    """
    try:
        found = find_iis(case, backend, deadline, conflict)
        return reasons(found, deadline.check), found.minimal
    except OutOfTime:
        return unreduced_reasons(case, conflict), False
