# SPDX-License-Identifier: Apache-2.0
"""Value, bound and gap of a plan, as the table keeps them for its group."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.plan import objective_document
from nova_holistic.engine.executor import Proposal


def objective_value(proposal: Proposal) -> Mapping[str, Any]:
    """See ``GroupRecord``.

    Members that stay at their places are not optimised: the bound is that of
    all plans that keep them. So their number belongs to the bound.
    """
    placed = proposal.request.placed
    kept = sum(member.path in placed
               for member in proposal.decision.group.all_members())
    return {**objective_document(proposal.decision.plan.objective),
            'kept': kept}
