# SPDX-License-Identifier: Apache-2.0
"""Reads one group, or its members. Services send these statements several
times for each group, so they are built once and need no session."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import orm

from nova_holistic.table.database import Database
from nova_holistic.table.records import GroupRecord, MemberRecord
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow, MemberRow

_GROUPS, _MEMBERS = GroupRow.__table__, MemberRow.__table__
_GROUP = sa.select(_GROUPS).where(
    _GROUPS.c.uuid == sa.bindparam('group_uuid'))
_MEMBERS_OF_GROUP = sa.select(_MEMBERS).where(
    _MEMBERS.c.group_uuid == sa.bindparam('of_group')).order_by(
        _MEMBERS.c.group_uuid, _MEMBERS.c.position)
_BARE_MEMBERS = sa.select(*rows.BARE).where(
    _MEMBERS.c.group_uuid == sa.bindparam('of_group')).order_by(
        _MEMBERS.c.position)


def group(database: Database, group_uuid: str) -> GroupRecord | None:
    """The group with this UUID; None if it does not exist."""
    with database.link() as link:
        return group_in(link, group_uuid)


def group_in(link: sa.Connection | orm.Session,
             group_uuid: str) -> GroupRecord | None:
    """Like ``group``, but in a transaction of the caller."""
    row = link.execute(_GROUP, {'group_uuid': group_uuid}).one_or_none()
    return row and rows.group_record(row)


def members(database: Database, group_uuid: str) -> tuple[MemberRecord, ...]:
    """All members of a group, in the order of its document."""
    with database.link() as link:
        found = link.execute(_MEMBERS_OF_GROUP, {'of_group': group_uuid}).all()
    return tuple(map(rows.member_record, found))


def with_members(database: Database, group_uuid: str) -> tuple[
        GroupRecord, Sequence[MemberRecord]] | None:
    """A group and its members in the order of its document, both at one point
    in time. The members are read without their alternates, which are the
    largest part of their rows."""
    with database.view() as session:
        record = group_in(session, group_uuid)
        return record and (record, tuple(map(
            rows.bare_member, session.execute(
                _BARE_MEMBERS, {'of_group': group_uuid}))))
