# SPDX-License-Identifier: Apache-2.0
"""A plan of the revised definition of a group, before it is accepted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nova_holistic.engine.proposal import Proposal
from nova_holistic.engine.update.revised_members import RevisedMembers
from nova_holistic.model.plan import Reason
from nova_holistic.table.records import MemberRecord, MemberState


@dataclass(frozen=True, slots=True)
class RevisionProposal(Proposal):
    """The change of a group to its revised definition.

    :ivar where: the effect of the revision on each member
    :ivar vacated: unchanged rows of members that lose their old holds
    :ivar exchanged: whether these holds are already dropped
    :ivar adopted: rows of adopted servers, each with the current row of its
        member
    :ivar violations: hard policies that servers of the group violate
    :ivar missing: members without places, and the reasons
    """

    where: RevisedMembers
    vacated: Sequence[MemberRecord]
    exchanged: bool = False
    adopted: Sequence[tuple[MemberRecord | None, MemberRecord]] = ()
    violations: Sequence[Reason] = ()
    missing: Sequence[Reason] = ()

    def seen(self, row: MemberRecord) -> MemberRecord:
        """The row as the table contains it before the proposal is accepted. If
        holds were exchanged, the table states that their members are lost."""
        if self.exchanged and row.state == MemberState.PLANNED:
            return replace(row, state=MemberState.LOST)
        return row

    def unneeded(self) -> Sequence[str]:
        """Holds that no row names after the update.

        The hold of a member whose server is being created may still exist.
        """
        given_up = {m.hold for m in self.vacated}
        leftover = [
            m.hold for m in (*self.where.to_plan.values(), *self.where.removed,
                             *self.where.adopted.replaced.values())
            if (m.held or m.state == MemberState.CLAIMED)
            and m.hold not in given_up]
        return leftover if self.exchanged else [
            *leftover, *(m.hold for m in self.vacated)]
