# SPDX-License-Identifier: Apache-2.0
"""A row that a request has claimed, and what has been done with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nova_holistic.scheduler.claim.request_refusal import HostRefused
from nova_holistic.table.records import MemberRecord, Place


@dataclass(slots=True)
class ClaimedRow:
    """
    :ivar row: as it was claimed, at the planned place
    :ivar moved: the row at an alternate, with a new hold; None at the planned
        place
    :ivar written: the hold that the row has in the table
    :ivar refusals: why the member cannot stay planned; empty if it can
    :ivar grown: whether the member was not planned before, so that it has no
        hold
    :ivar before: of a grown member, its row as it was read before: released,
        or of a deleted server; None if the row is new
    """

    row: MemberRecord
    instance_uuid: str
    repeated: bool
    written: str
    grown: bool = False
    before: MemberRecord | None = None
    swapped: bool = False
    moved: MemberRecord | None = None
    refusals: Sequence[HostRefused] = ()

    @property
    def other_place(self) -> Sequence[Place]:
        """Where the instance's allocation is, if it is not where the hold
        is."""
        return () if self.moved is None else (self.moved.place,)

    def moved_back(self, row: MemberRecord) -> Mapping[str, Any]:
        """Changes that bring the row in the table back to this place."""
        if self.written == row.hold:
            return {}
        return {'place': row.place, 'hold': row.hold}
