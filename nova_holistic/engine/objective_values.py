# SPDX-License-Identifier: Apache-2.0
"""Value, bound and gap of a plan, as the table stores them for its group."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.documents.plan import objective_document
from nova_holistic.engine.tasks.executor import Proposal
from nova_holistic.engine.update.revision_proposal import RevisionProposal
from nova_holistic.table.records import GroupRecord


def objective_value(proposal: Proposal) -> Mapping[str, Any]:
    """The objective value of a proposal, in the form of
    ``GroupRecord.objective_value``.

    The solver optimises only the members without a fixed place: the bound
    applies to the plans in which all other members stay. Therefore the value
    includes the number of members that stay, as ``kept``.
    """
    placed = proposal.request.placed
    kept = sum(member.path in placed
               for member in proposal.decision.group.all_members())
    return {**objective_document(proposal.decision.plan.objective),
            'kept': kept}


def changed_value(record: GroupRecord,
                  proposal: RevisionProposal) -> Mapping[str, Any]:
    """The field of the record with the objective value after an update.

    If all members stay at their places and the objective is unchanged, the
    result is empty, and the record keeps the value of the previous plan.
    """
    changed = bool(
        proposal.members or proposal.adopted or proposal.where.removed
        or proposal.request.objective != record.objective)
    return {'objective_value': objective_value(proposal)} if changed else {}
