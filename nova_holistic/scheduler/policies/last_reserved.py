# SPDX-License-Identifier: Apache-2.0
"""What groups had reserved when a scheduler last read it."""

from collections.abc import Sequence
from dataclasses import dataclass

from nova_holistic.model.reservation import Reservation
from nova_holistic.table.records import GroupRecord


@dataclass(slots=True)
class LastReserved:
    """Reservations with their groups. It is replaced as a whole, so that
    threads need no lock.

    :ivar found: None before anything was read
    """

    found: Sequence[tuple[GroupRecord, Reservation]] | None = None
