# SPDX-License-Identifier: Apache-2.0
"""Places for a further server of a member, from the placement table."""

from collections.abc import Sequence
from collections import Counter

from nova_holistic.engine.update.outdated_members import is_up_to_date
from nova_holistic.objectives import load_objective
from nova_holistic.table.records import (
    GroupRecord, MemberRecord, MemberState, Place)
from nova_holistic.table.store import PlacementTable

MAX_SIBLINGS = 16
"""Maximum number of members whose places and alternates are considered."""


def known_places(table: PlacementTable, record: GroupRecord,
                 rows: Sequence[MemberRecord], wanted: MemberRecord,
                 reused: MemberRecord | None) -> Sequence[Place]:
    """Places of equal members and their alternates, without a request to
    Placement. The place of the reused row comes first, since its capacity was
    returned. Places that were planned for an earlier definition are left out.

    :param rows: all rows of the group
    :param wanted: the row of the new server
    :param reused: a row that the server takes over; None for a new row
    :raises TableError: the table does not answer
    """
    required = wanted.member.requirements
    equal = [row for row in rows
             if row.member.description == wanted.member.description
             and row.state != MemberState.RELEASED
             and is_up_to_date(row, required)][-MAX_SIBLINGS:]
    given = table.alternates([row.id for row in equal])
    others = Counter(place for row in equal
                     for place in given.get(row.id, ()))
    used = [row.place for row in equal]
    free = [place for place, _ in others.most_common()]
    own = [reused.place] if (
        reused and is_up_to_date(reused, required)) else []
    found = (*own, *used, *free) if _prefers_used_hosts(
        record) else (*own, *free, *used)
    within = required.location
    return [place for place in dict.fromkeys(found) if place.host
            and (*place.location, place.host)[:len(within)] == within]


def _prefers_used_hosts(record: GroupRecord) -> bool:
    """Whether the objective makes an unused host more expensive than a host
    that the group uses."""
    host_cost = load_objective(record.objective).host_cost()
    return host_cost is None or host_cost.opening(1.0) > 0
