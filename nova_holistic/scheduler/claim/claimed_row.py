# SPDX-License-Identifier: Apache-2.0
"""A row that a request has claimed, and the state of the claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as holds_errors
from nova_holistic.scheduler.claim.request_refusal import HostRefused
from nova_holistic.table.records import MemberRecord, Place


@dataclass(slots=True)
class ClaimedRow:
    """A claimed row.

    :ivar row: the row as it was claimed, at the planned place
    :ivar repeated: whether the instance had the row before this request
    :ivar written: the hold that the row has in the table
    :ivar grown: whether the member was not planned before, so that it has no
        hold
    :ivar before: the row of a grown member as it was read before the claim,
        released or of a deleted server; None if the row is new
    :ivar swapped: whether a swap of the hold was started
    :ivar unanswered: whether a swap got no answer, so that Placement may carry
        it out later
    :ivar moved: the row at another host, with a new hold; None at the planned
        place
    :ivar refusals: why the member cannot stay planned; empty if it can
    """

    row: MemberRecord
    instance_uuid: str
    repeated: bool
    written: str
    grown: bool = False
    before: MemberRecord | None = None
    swapped: bool = False
    unanswered: bool = False
    moved: MemberRecord | None = None
    refusals: Sequence[HostRefused] = ()

    @property
    def other_place(self) -> Sequence[Place]:
        """The place of the instance's allocation if it differs from the place
        of the hold; empty if both are the same."""
        return () if self.moved is None else (self.moved.place,)

    def moved_back(self, row: MemberRecord) -> Mapping[str, Any]:
        """Changes that write the place and the hold of ``row`` to the table;
        empty if the table has them."""
        if self.written == row.hold:
            return {}
        return {'place': row.place, 'hold': row.hold}

    def may_have_allocation(self, holds: HoldClient) -> bool:
        """Whether the instance has an allocation; also true if Placement does
        not answer."""
        try:
            return holds.exists(self.instance_uuid) is not None
        except holds_errors.HoldsError:
            return True
