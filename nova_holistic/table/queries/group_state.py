# SPDX-License-Identifier: Apache-2.0
"""The columns of a group and of its members that are read for each server."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import json
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.schema.models import GroupRow, MemberRow

LIGHT = tuple(column for column in GroupRow.__table__.columns
              if column.name not in ('document', 'pending', 'changed_at',
                                     'places_version', 'uses_links',
                                     'links_version')
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


# This statement is built once, because it is sent for each server. A single
# statement reads the group and its members at one point in time at any
# isolation level.
_GROUP, _STATE = _unparsed(LIGHT), _unparsed(CHANGING)
_ALTERNATES = sa.type_coerce(_MEMBER.alternates, sa.Text())
_REREAD = sa.union_all(
    sa.select(*_GROUP, *_nulls((*_STATE, _ALTERNATES))).where(
        GroupRow.__table__.c.uuid == sa.bindparam('group')),
    sa.select(*_nulls(_GROUP), *_STATE, sa.case(
        (_MEMBER.path == sa.bindparam('path'), _ALTERNATES))).where(
            _MEMBER.group_uuid == sa.bindparam('group')))
_NAMES = tuple(column.name for column in LIGHT)
_JSON = frozenset(column.name for column in LIGHT
                  if isinstance(column.type, sa.JSON))


def read(link: sa.Connection, group_uuid: str, path: str
         ) -> tuple[SimpleNamespace | None, Mapping[int, Sequence[Any]],
                    Sequence[Mapping[str, Any]] | None]:
    """The columns ``LIGHT`` of a group; the values of the columns ``CHANGING``
    by the ID of the member; and the alternates of the member at a path.

    :returns: None instead of the group if it does not exist; None instead of
        the alternates if no member has this path
    """
    row, changing, alternates = None, {}, None
    for each in link.execute(
            _REREAD, {'group': group_uuid, 'path': path}).all():
        if each.uuid is not None:
            row = _group_row(each)
            continue
        *values, destination, places = each[len(LIGHT):]
        changing[values[0]] = (*values, _parsed(destination))
        if places is not None:
            alternates = _parsed(places)
    return row, changing, alternates


def _group_row(values: Sequence[Any]) -> SimpleNamespace:
    """The columns ``LIGHT`` of a row of ``_REREAD``."""
    return SimpleNamespace(**{
        name: _parsed(value) if name in _JSON else value
        for name, value in zip(_NAMES, values)})
