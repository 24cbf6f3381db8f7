# SPDX-License-Identifier: Apache-2.0
"""The statement that reads a page of groups.

A page is merged from ranges of one index. In each range, the order of the page
is that of the index, and no more rows are read than the page has. Therefore
the cost does not depend on the number of groups that are not on the page.

There is one exception: if groups are selected by name, and are not sorted by
name or creation, or are also selected by status, all groups of the project
with this name may be read.

For MariaDB, the statement names the index. Otherwise MariaDB often reads all
groups with the status or name, or all groups before the marker. So all indexes
of ``list_indexes`` must exist.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.records import GroupStatus
from nova_holistic.table.schema import list_indexes
from nova_holistic.table.schema.models import GroupRow

SORT_KEYS = ('name', 'status', 'created_at', 'updated_at')

_SHARED = ('name', 'status')
"""Sort keys that have the same value in many groups."""


@dataclass(frozen=True, slots=True)
class Page:
    """The selected groups and their order. None selects all groups.

    :ivar limit: maximum number of groups
    :ivar marker: UUID of the last group of the previous page
    :ivar sort_key: one of ``SORT_KEYS``
    :ivar position: value of the sort key of the marker when it was listed;
        None means the current value
    """

    limit: int
    project_id: str | None = None
    name: str | None = None
    statuses: Collection[GroupStatus] | None = None
    marker: str | None = None
    sort_key: str = 'created_at'
    descending: bool = False
    position: Any = None


@dataclass(frozen=True, slots=True)
class _Range:
    """A part of the selected groups.

    :ivar where: conditions
    :ivar key: sort key; None if all groups of the range have the same value
    """

    where: Sequence[sa.ColumnElement[bool]]
    key: Any


def statement(page: Page, columns: Sequence[Any], last: Any) -> sa.Select:
    """The columns of the groups of a page, in the order of the page.

    :param last: value of the sort key of the marker, if the page has one
    """
    key = getattr(GroupRow, page.sort_key)
    ranges = _ranges(page, last)
    if len(ranges) == 1:
        return _read(page, columns, ranges[0])
    if not ranges:
        return sa.select(*columns).where(sa.false())
    # SQLite accepts an order and a limit only in a subquery of a union.
    merged = sa.union_all(*(
        sa.select(_read(page, (GroupRow.uuid, key), each).subquery())
        for each in ranges)).subquery()
    first = sa.select(merged.c.uuid).order_by(*_order(
        page, merged.c[page.sort_key], merged.c.uuid)).limit(
            page.limit).subquery()
    return sa.select(*columns).join_from(
        GroupRow, first, GroupRow.uuid == first.c.uuid).order_by(
            *_order(page, key, GroupRow.uuid))


def of_project(page: Page) -> list[sa.ColumnElement[bool]]:
    """The condition for the project of the page."""
    if page.project_id is None:
        return []
    return [GroupRow.project_id == page.project_id]


def _read(page: Page, columns: Sequence[Any], part: _Range) -> sa.Select:
    hint = f'FORCE INDEX ({_index(page)})'
    return sa.select(*columns).where(*of_project(page), *part.where).order_by(
        *_order(page, part.key, GroupRow.uuid)).limit(page.limit).with_hint(
            GroupRow, hint, 'mysql').with_hint(GroupRow, hint, 'mariadb')


def _index(page: Page) -> str:
    """The name of the index with the groups of the page."""
    selected = ('name' if page.name is not None
                else 'status' if page.statuses is not None else None)
    return list_indexes.index_name(
        page.project_id is not None, selected, page.sort_key)


def _order(page: Page, *columns: Any) -> list[Any]:
    return [column.desc() if page.descending else column.asc()
            for column in columns if column is not None]


def _ranges(page: Page, last: Any) -> list[_Range]:
    if page.name is not None:
        return _of_name(page, page.name, last)
    if page.statuses is None:
        return _after(page, [], last)
    return [each for status in sorted(set(page.statuses))
            for each in _of_status(page, status, last)]


def _of_status(page: Page, status: GroupStatus, last: Any) -> list[_Range]:
    where = [GroupRow.status == status]
    return (_of_value(page, where, status, last)
            if page.sort_key == 'status' else _after(page, where, last))


def _of_name(page: Page, name: str, last: Any) -> list[_Range]:
    where = [GroupRow.name == name]
    if page.statuses is not None:
        where.append(_without_index(GroupRow.status).in_(page.statuses))
    if page.sort_key == 'name':
        return _of_value(page, where, name, last)
    if page.sort_key == 'created_at':
        return _after(page, where, last)
    key = _without_index(getattr(GroupRow, page.sort_key))
    if page.marker is not None:
        where.append(_begin(page, key, last))
    return [_Range(where, key)]


def _of_value(page: Page, where: Sequence[Any], value: str, last: Any
              ) -> list[_Range]:
    """The range after the marker in groups whose sort key has one value."""
    if page.marker is None:
        return [_Range(where, None)]
    if value == last:
        return [_Range([*where, _beyond(page, GroupRow.uuid, page.marker)],
                       None)]
    is_after = value < last if page.descending else value > last
    return [_Range(where, None)] if is_after else []


def _after(page: Page, where: Sequence[Any], last: Any) -> list[_Range]:
    """The ranges after the marker, in the order of the key and the UUID."""
    key = getattr(GroupRow, page.sort_key)
    if page.marker is None:
        return [_Range(where, key)]
    if page.sort_key not in _SHARED:
        return [_Range([*where, _begin(page, key, last)], key)]
    return [
        _Range([*where, key == last,
                _beyond(page, GroupRow.uuid, page.marker)], None),
        _Range([*where, _beyond(page, key, last)], key)]


def _begin(page: Page, key: Any, last: Any) -> sa.ColumnElement[bool]:
    """The condition for rows after the marker. In this form, databases start
    at the first row with the value of the marker in the index of the page. In
    other forms, they may merge this index with the index of the primary key
    and sort the result."""
    begin = key <= last if page.descending else key >= last
    return sa.and_(begin, sa.case(
        (key == last, _beyond(page, GroupRow.uuid, page.marker)),
        else_=sa.true()))


def _beyond(page: Page, column: Any, value: Any) -> sa.ColumnElement[bool]:
    return column < value if page.descending else column > value


def _without_index(column: Any) -> Any:
    """The value of a column in a form for which a database uses no index. It
    uses the index of another condition."""
    return sa.func.coalesce(column, column)
