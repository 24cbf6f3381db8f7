# SPDX-License-Identifier: Apache-2.0
"""The columns of a group and of its members that are read for each server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
import json
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.queries import exclusive_state
from nova_holistic.table.queries.exclusive_state import ExclusiveState
from nova_holistic.table.schema.database_time import Microseconds
from nova_holistic.table.schema.models import GroupRow, MemberRow

LIGHT = tuple(column for column in GroupRow.__table__.columns
              if column.name not in ('document', 'pending', 'changed_at',
                                     'places_version', 'uses_links',
                                     'links_version', 'uses_all_hosts')
              and not column.name.startswith('alternates_'))
"""Columns of a group that each access reads."""

_MEMBER = MemberRow.__table__.c
CHANGING = (_MEMBER.id, _MEMBER.hold, _MEMBER.host, _MEMBER.state,
            _MEMBER.held, _MEMBER.instance_uuid, _MEMBER.destination)
"""Columns of a member that each access reads."""


def _nulls(columns: Iterable[sa.ColumnElement]) -> Iterator[Any]:
    """NULL columns with the types of the given columns, for a UNION."""
    return (sa.type_coerce(sa.null(), column.type).label(None)
            for column in columns)


def _unparsed(columns: Iterable[sa.ColumnElement]
              ) -> tuple[sa.ColumnElement, ...]:
    """The columns, with JSON as text. A UNION has every column in each of its
    rows, and SQLAlchemy would parse a JSON column of a group in the row of
    each member."""
    return tuple(
        sa.type_coerce(column, sa.Text()).label(column.name)
        if isinstance(column.type, sa.JSON) else column
        for column in columns)


def _parsed(value: Any) -> Any:
    """The value of JSON. Some drivers have parsed it already; no column
    contains a string."""
    return json.loads(value) if isinstance(value, str) else value


MODULUS = 2**40
"""The sum of the times of a million members, modulo this number, fits into
64 bits."""

# The statements are built once, because one of them is sent for each server. A
# single statement reads all of it at one point in time at any isolation level.
_GROUP, _STATE = _unparsed(LIGHT), _unparsed(CHANGING)
_TIME = Microseconds(_MEMBER.changed_at)
_ALTERNATES = sa.type_coerce(_MEMBER.alternates, sa.Text())
_MEMBER_COLUMNS = (*_STATE, _ALTERNATES)
_OF_GROUP, _OF_MEMBER, _OF_TIMES, _OF_SUMS, _OF_CLAIM = range(5)
"""The first column of each row."""


def _kind(number: int) -> sa.ColumnElement:
    return sa.literal_column(str(number)).label(None)


_OF_THE_GROUP = _MEMBER.group_uuid == sa.bindparam('group')


def _of_members(alternates: sa.ColumnElement, *where: sa.ColumnElement
                ) -> sa.Select:
    """A row for each member of the group that meets the conditions."""
    return sa.select(
        _kind(_OF_MEMBER), *_nulls(_GROUP), *_STATE, alternates, _TIME,
        *(sa.null() for _ in range(2))).where(_OF_THE_GROUP, *where)


def _statement(*where: sa.ColumnElement) -> sa.CompoundSelect:
    """A statement for members that meet the conditions, and for the member at
    the path. Each part reads a range of one index. With an OR of the
    conditions, databases would read all members of the group."""
    return sa.union_all(
        sa.select(_kind(_OF_GROUP), *_GROUP, *_nulls(_MEMBER_COLUMNS),
                  *exclusive_state.no_sums()).where(
                      GroupRow.__table__.c.uuid == sa.bindparam('group')),
        # PostgreSQL takes the types of the columns from the first two parts.
        _of_members(_ALTERNATES, _MEMBER.path == sa.bindparam('path')),
        _of_members(next(_nulls([_ALTERNATES])), *where),
        sa.select(_kind(_OF_TIMES), *_nulls((*_GROUP, *_MEMBER_COLUMNS)),
                  sa.func.count(), sa.cast(
                      sa.func.coalesce(sa.func.sum(_TIME % MODULUS), 0),
                      sa.BigInteger), sa.null()).where(_OF_THE_GROUP),
        exclusive_state.sums(
            (_kind(_OF_SUMS), *_nulls((*_GROUP, *_MEMBER_COLUMNS)))),
        exclusive_state.claims(
            (_kind(_OF_CLAIM), _MEMBER.group_uuid, *_nulls(_GROUP[1:]),
             _MEMBER.id, *_nulls(_MEMBER_COLUMNS[1:5]), _MEMBER.instance_uuid,
             *_nulls(_MEMBER_COLUMNS[6:]),
             *(sa.null() for _ in range(3)))))


_ALL = _statement()
_CHANGED = _statement(_MEMBER.changed_at >= sa.bindparam('since'))
_NAMES = tuple(column.name for column in LIGHT)
_JSON = frozenset(column.name for column in LIGHT
                  if isinstance(column.type, sa.JSON))
# The positions of the first column of a member and of the sums.
_MEMBERS = 1 + len(LIGHT)
_SUMS = _MEMBERS + len(_MEMBER_COLUMNS)


@dataclass(slots=True)
class GroupState:
    """The result of ``read``.

    :ivar group: values of the columns ``LIGHT``, with JSON as text; None if
        the group does not exist
    :ivar members: values of the columns ``CHANGING`` by the ID of the member,
        of the members that have changed
    :ivar times: times of the last changes of these members, in microseconds
    :ivar total: the number of all members, and the sum of their times modulo
        ``MODULUS`` each
    :ivar alternates: alternates of the member at the path; None if no member
        has this path
    """

    group: tuple[Any, ...] | None = None
    members: dict[int, Sequence[Any]] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)
    total: tuple[int, int] = (0, 0)
    alternates: Sequence[Mapping[str, Any]] | None = None
    exclusive: ExclusiveState = field(default_factory=ExclusiveState)


def read(link: sa.Connection, group_uuid: str, path: str,
         since: datetime | None = None) -> GroupState:
    """The state of a group, and that of all exclusive groups, with one
    statement.

    :param path: path of the member whose alternates are read
    :param since: only this member and members that have changed since this
        time are read, in naive UTC; None reads all members
    """
    found = GroupState()
    values = {'group': group_uuid, 'path': path}
    for row in (link.execute(_ALL, values) if since is None else link.execute(
            _CHANGED, values | {'since': since})).all():
        kind = row[0]
        if kind == _OF_MEMBER:
            *state, destination, places = row[_MEMBERS:_SUMS]
            found.members[state[0]] = (*state, _parsed(destination))
            found.times[state[0]] = int(row[_SUMS])
            if places is not None:
                found.alternates = _parsed(places)
        elif kind == _OF_GROUP:
            found.group = row[1:_MEMBERS]
        elif kind == _OF_TIMES:
            found.total = int(row[_SUMS]), int(row[_SUMS + 1])
        elif kind == _OF_SUMS:
            found.exclusive.add_sums(row[_SUMS:])
        else:
            found.exclusive.add_claim(
                row[1], row[_MEMBERS], row[_MEMBERS + 5])
    return found


def named(group: Sequence[Any]) -> SimpleNamespace:
    """The attributes of ``GroupState.group``, with parsed JSON."""
    return SimpleNamespace(**{
        name: _parsed(value) if name in _JSON else value
        for name, value in zip(_NAMES, group)})
