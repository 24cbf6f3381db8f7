# SPDX-License-Identifier: Apache-2.0
"""The state of all exclusive groups that is read for each server that Nova
places: whether any of them has changed."""

from collections.abc import Iterable, Mapping, Sequence
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.records import MemberState
from nova_holistic.table.schema.models import GroupRow, MemberRow

Sums = tuple[int, int, int]
"""The number of the groups, and the sums of their places versions and of their
revisions. They are equal as long as no group has changed."""

Claims = Mapping[int, str]
"""Claimed members of a group: the UUID of the server by the ID of the
member."""

_GROUP, _MEMBER = GroupRow.__table__, MemberRow.__table__
_NUMBER = sa.BigInteger()


@dataclass(slots=True)
class ExclusiveState:
    """The sums, and the claims by the UUID of the group. Both are of one point
    in time, because they are read in one statement. If a claim is missing, it
    was made later, or its end has raised a version."""

    sums: Sums = (0, 0, 0)
    claims: dict[str, dict[int, str]] = field(
        default_factory=lambda: defaultdict(dict))

    def add_sums(self, values: Sequence[Any]) -> None:
        """Set the sums from the row of ``sums``."""
        number, places, revisions = values
        self.sums = int(number), int(places), int(revisions)

    def add_claim(self, group: str, member: int, server: str) -> None:
        """Add a row of ``claims``."""
        self.claims[group][member] = server


def sums(before: Iterable[sa.ColumnElement]) -> sa.Select:
    """One row with the three sums.

    :param before: columns before the sums
    """
    return sa.select(*before, sa.func.count(), *(
        sa.cast(sa.func.coalesce(sa.func.sum(column), 0), _NUMBER)
        for column in (_GROUP.c.places_version, _GROUP.c.revision))
    ).where(_GROUP.c.exclusive == sa.true())


def claims(columns: Iterable[sa.ColumnElement]) -> sa.Select:
    """A row for each claimed member whose server is being built.

    :param columns: columns of the member
    """
    return sa.select(*columns).join_from(
        _MEMBER, _GROUP, _GROUP.c.uuid == _MEMBER.c.group_uuid).where(
            _MEMBER.c.state == MemberState.CLAIMED,
            _GROUP.c.exclusive == sa.true())


def no_sums() -> list[sa.ColumnElement]:
    """Columns of the first part of a UNION that contains ``sums``. PostgreSQL
    requires their types in the first part."""
    return [sa.cast(sa.null(), _NUMBER).label(None) for _ in range(3)]


def read(link: sa.Connection) -> ExclusiveState:
    """The state, with one statement."""
    found = ExclusiveState()
    for group, member, server, *values in link.execute(_SUMS_AND_CLAIMS):
        if group is None:
            found.add_sums(values)
        else:
            found.add_claim(group, member, server)
    return found


# The statement is sent for each server without a pointer that Nova places, so
# it is built once.
_SUMS_AND_CLAIMS = sa.union_all(
    sums(sa.null() for _ in range(3)),
    claims((_MEMBER.c.group_uuid, _MEMBER.c.id, _MEMBER.c.instance_uuid,
            *(sa.null() for _ in range(3)))))
