# SPDX-License-Identifier: Apache-2.0
"""Value, bound and gap of a plan, as the table keeps them for its group."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.plan import objective_document
from nova_holistic.engine.tasks.executor import Proposal
from nova_holistic.engine.update.revision_proposal import RevisionProposal
from nova_holistic.table.records import GroupRecord


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


def changed_value(record: GroupRecord,
                  proposal: RevisionProposal) -> Mapping[str, Any]:
    """The field of the record that an update changes, if it does.

    If each member stays at its place, the former plan and its bound are kept.
    """
    changed = bool(
        proposal.members or proposal.adopted or proposal.where.removed
        or proposal.request.objective != record.objective)
    return {'objective_value': objective_value(proposal)} if changed else {}
