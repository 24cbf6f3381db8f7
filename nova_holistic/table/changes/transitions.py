# SPDX-License-Identifier: Apache-2.0
"""Changes the status of groups and the state of members, and writes the
events.

The rows are locked before they are read, so that the previous state in the
event is correct. SQLite requires that the first statement writes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table.batches import batches
from nova_holistic.table.changes import places_versions
from nova_holistic.table.history import events
from nova_holistic.table.history.events import (
    Changed, Event, Kind, Transaction)
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import GroupRow, MemberRow
from nova_holistic.table import states

_SHOWN = ('status', 'lease_expires_at')
"""Columns of a group whose change is an event."""

_COMPUTED = ('lease_expires_at', 'reasons')
"""Columns of a group whose new value may be computed from the current one."""

LeaseEnd = Callable[[datetime | None], datetime | None]
"""The new end of a lease, computed from its current end."""

_RESERVING = ('exclusive', 'levels', 'document')
"""Columns of a group that determine the domains that its members reserve."""


def change_group(session: Transaction, group_uuid: str, where: Sequence[Any],
                 values: Mapping[str, Any],
                 by: Collection[str] | None = None) -> bool:
    """Change the columns of a group's row if it satisfies the conditions, and
    if the state machine allows the change of its status.

    This is one statement if neither the status nor the lease is changed, and
    no value is computed.

    :param values: new values; that of ``lease_expires_at`` may be a LeaseEnd,
        and that of ``reasons`` may be ChangedReasons. Each receives the value
        that no other transaction can change
    :param by: names of the permitted transitions of the status; None permits
        all
    :returns: whether the row was changed
    """
    conditions = [GroupRow.uuid == group_uuid, *where]
    if 'status' in values:
        conditions.append(GroupRow.status.in_(
            states.GROUPS.leading_to(GroupStatus(values['status']), by)))
    if any(name in values for name in _RESERVING):
        values = {**values, 'places_version': places_versions.next_version()}
    computed = [name for name in _COMPUTED if callable(values.get(name))]
    if not computed and not any(name in values for name in _SHOWN):
        return _update_group(session, conditions, values)
    if not _update_group(session, conditions, {'status': GroupRow.status}):
        return False
    before = session.execute(sa.select(
        GroupRow.status, GroupRow.lease_expires_at, GroupRow.reasons).where(
            GroupRow.uuid == group_uuid)).one()
    values = {**values, **{name: values[name](getattr(before, name))
                           for name in computed}}
    _update_group(session, [GroupRow.uuid == group_uuid], values)
    events.add(session, _of_group(group_uuid, before, values))
    return True


def lock_revision(session: Transaction, group_uuid: str,
                  revision: int | None) -> bool:
    """Lock a group's row until the end of the transaction, so that no other
    transaction changes its revision.

    :param revision: required revision; None means any, and locks nothing
    :returns: False if the group has another revision or does not exist
    """
    return revision is None or _update_group(session, [
        GroupRow.uuid == group_uuid, GroupRow.revision == revision],
        # This locks the row and changes nothing.
        {'revision': GroupRow.revision})


def change_members(session: Transaction, where: Sequence[Any],
                   values: Mapping[str, Any],
                   reasons: Sequence[Mapping[str, Any]] = ()) -> int:
    """Change the columns of all members that satisfy the conditions. The
    caller checks that the state machine allows the change.

    A member that was released while it had a server is released instead of
    planned or lost.

    :param values: new values, including the state and ``updated_at``
    :param reasons: reasons of the events
    :returns: number of changed members
    """
    if not _update_members(session, where, {'state': MemberRow.state}):
        return 0
    before = session.execute(sa.select(
        MemberRow.id, MemberRow.group_uuid, MemberRow.path, MemberRow.state,
        MemberRow.host, MemberRow.unwanted,
        places_versions.has_readers().label('has_readers'))
        .where(*where).order_by(MemberRow.id).with_for_update()).all()
    read = {row.group_uuid for row in before if row.has_readers}
    if read:
        places_versions.raise_versions(session, read)
        values = {**values, 'places_version': places_versions.of_group()}
    unwanted = [row for row in before if row.unwanted
                and values['state'] in states.EXPIRE_STATES]
    wanted = [row for row in before if row not in unwanted]
    _change_to(session, wanted, values, reasons)
    _change_to(session, unwanted, {**values, 'state': MemberState.RELEASED},
               reasons)
    return len(before)


def _change_to(session: Transaction, before: Sequence[sa.Row],
               values: Mapping[str, Any],
               reasons: Sequence[Mapping[str, Any]]) -> None:
    """Change the columns of these members."""
    for batch in batches([row.id for row in before]):
        _update_members(session, [MemberRow.id.in_(batch)], values)
    at = values['updated_at'] or timeutils.utcnow()
    host = values.get('host')
    changed = [
        Changed(row.group_uuid, row.path, row.state, host or row.host)
        for row in before if row.state != values['state']]
    events.add(session, [
        *events.of_members(changed, values['state'], at, reasons),
        *(Event(row.group_uuid, Kind.PLACE_MOVED, at, row.path, host=host)
          for row in before if host and host != row.host)])


def _of_group(group_uuid: str, before: sa.Row,
              values: Mapping[str, Any]) -> list[Event]:
    at = values.get('updated_at') or timeutils.utcnow()
    lease = values.get('lease_expires_at', before.lease_expires_at)
    details = {} if lease == before.lease_expires_at else {
        'lease_expires_at': lease and lease.isoformat(timespec='seconds')
        + 'Z'}
    status = values.get('status', before.status)
    if status != before.status:
        return [Event(group_uuid, Kind.GROUP_STATUS, at,
                      from_state=before.status, to_state=str(status),
                      reasons=tuple(values.get('reasons', ())),
                      details=details)]
    return [Event(group_uuid, Kind.LEASE_CHANGED, at,
                  details=details)] if details else []


def status_changed(group_uuid: str, before: str, after: str,
                   at: datetime) -> Event:
    """The event of a group whose status was changed by another function."""
    return Event(group_uuid, Kind.GROUP_STATUS, at, from_state=str(before),
                 to_state=str(after))


def _update_group(session: Transaction, where: Sequence[Any],
                  values: Mapping[str, Any]) -> bool:
    return session.execute(
        sa.update(GroupRow).where(*where).values(values)
        .execution_options(synchronize_session=False)).rowcount == 1


def _update_members(session: Transaction, where: Sequence[Any],
                    values: Mapping[str, Any]) -> int:
    return session.execute(
        sa.update(MemberRow).where(*where).values(values)
        .execution_options(synchronize_session=False)).rowcount
