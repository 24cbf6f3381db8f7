# SPDX-License-Identifier: Apache-2.0
"""Groups of the placement table, for people or for programs.

Times are UTC. Tables are neither truncated nor coloured.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
import json
from typing import Any

from nova_holistic.picture.text_fitting import printable
from nova_holistic.table.records import GroupRecord, MemberRecord

FORMATS = ('table', 'json')

_ABSENT = '-'


def group(record: GroupRecord, members: Sequence[MemberRecord],
          form: str) -> str:
    """All information about one group, for an operator."""
    if form == 'json':
        return _json({**_group(record),
                      'members': [_member(member) for member in members]})
    table = columns(('MEMBER', 'STATE', 'HOST', 'LOCATION', 'INSTANCE'), (
        (m.member.path, m.state, m.place.host, '/'.join(m.place.location),
         m.instance_uuid) for m in members))
    return '\n'.join([*_heading(record), *(('', *table) if members else ())])


def groups(records: Sequence[GroupRecord], form: str) -> str:
    """One line per group."""
    if form == 'json':
        return _json([_group(record) for record in records])
    return '\n'.join(columns(
        ('UUID', 'NAME', 'PROJECT', 'STATUS', 'LEASE UNTIL'),
        ((r.uuid, r.name, r.project_id, r.status, time(r.lease_expires_at))
         for r in records)))


def time(value: datetime | None) -> str | None:
    """ISO 8601 of a naive UTC time, to the second."""
    return value and value.isoformat(timespec='seconds') + 'Z'


def _heading(record: GroupRecord) -> Iterable[str]:
    return _aligned([
        ('uuid', record.uuid), ('name', record.name),
        ('project', record.project_id), ('user', record.user_id),
        ('objective', record.objective), ('status', record.status),
        *((name, ': '.join(filter(None, (r['at'], r['message']))))
          for name, messages in (('reason', record.reasons),
                                 ('violation', record.violations))
          for r in messages),
        ('lease until', time(record.lease_expires_at))])


def _group(record: GroupRecord) -> dict[str, Any]:
    return {
        'uuid': record.uuid, 'name': record.name,
        'project_id': record.project_id, 'user_id': record.user_id,
        'objective': record.objective, 'status': record.status,
        'reasons': [dict(reason) for reason in record.reasons],
        'violations': [dict(each) for each in record.violations],
        'lease_expires_at': time(record.lease_expires_at),
        'created_at': time(record.created_at),
        'updated_at': time(record.updated_at)}


def _member(record: MemberRecord) -> dict[str, Any]:
    return {
        'member': record.member.path, 'state': record.state,
        'host': record.place.host, 'location': list(record.place.location),
        'instance_uuid': record.instance_uuid}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


def columns(heads: Sequence[str],
            rows: Iterable[Sequence[str | None]]) -> Iterable[str]:
    """The lines of a table; none if the table has no rows."""
    rows = list(rows)
    return _aligned([heads, *rows]) if rows else ()


def _aligned(rows: Iterable[Sequence[str | None]]) -> Iterable[str]:
    """Each column as wide as its widest cell."""
    cells = [[printable(cell or _ABSENT) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return ['  '.join(map(str.ljust, row, widths)).rstrip() for row in cells]
