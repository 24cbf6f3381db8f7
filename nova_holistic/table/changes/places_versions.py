# SPDX-License-Identifier: Apache-2.0
"""Versions with which a reader finds changes of places without a search.

The ``places_version`` of a group rises whenever one of its members begins or
ceases to use capacity, or gets another place or another server. The member
gets the new number in the same transaction. Until the transaction ends, it
locks the row of the group. Therefore, a transaction that reads a version also
reads all members that have this version or a lower one. The version rises by a
random number, so that the sum of the versions of many groups shows whether any
of them has another version.

A claim is the exception. It does not change the place that the member uses,
and parallel claims in one group do not wait for each other.

A volume that is released or planned in another pool raises the version of its
group if the group uses links.

Only exclusive groups, and groups that use links, have readers. Therefore, a
change of a member's state raises only the versions of these groups. A group
that becomes exclusive also gets another version.
"""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.batches import batches
from nova_holistic.table.schema.models import (
    GroupRow, MemberRow, places_step)


def next_version() -> sa.ColumnElement[int]:
    """The next version of a group, for the values of an UPDATE of its row."""
    return GroupRow.places_version + places_step()


def of_group() -> sa.ScalarSelect[int]:
    """The version of the member's group, for the values of an UPDATE of its
    row."""
    return sa.select(GroupRow.places_version).where(
        GroupRow.uuid == MemberRow.group_uuid).scalar_subquery()


def has_readers() -> sa.ScalarSelect[bool]:
    """Whether the version of the member's group has readers."""
    return sa.select(
        sa.or_(GroupRow.exclusive, GroupRow.uses_links)).where(
            GroupRow.uuid == MemberRow.group_uuid).scalar_subquery()


def raise_versions(session: orm.Session,
                   group_uuids: Collection[str]) -> None:
    """Give groups another version."""
    for batch in batches(sorted(group_uuids)):
        session.execute(
            sa.update(GroupRow).where(GroupRow.uuid.in_(batch))
            .values(places_version=next_version())
            .execution_options(synchronize_session=False))


def raise_of_links(session: orm.Session,
                   group_uuids: Collection[str]) -> None:
    """Give groups that use links another version, because the places of their
    volumes have changed."""
    for batch in batches(sorted(group_uuids)):
        session.execute(
            sa.update(GroupRow).where(GroupRow.uuid.in_(batch),
                                      GroupRow.uses_links == sa.true())
            .values(places_version=next_version())
            .execution_options(synchronize_session=False))


def current(session: orm.Session, group_uuid: str) -> dict[str, Any]:
    """The version of the group as a column value of its members, after the
    transaction has given the group another version."""
    return {'places_version': session.scalar(sa.select(
        GroupRow.places_version).where(GroupRow.uuid == group_uuid)) or 0}
