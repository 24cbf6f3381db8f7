# SPDX-License-Identifier: Apache-2.0
"""The history of each group: what changed, when, and on whose behalf.

An event is written in the transaction that makes the change. Therefore a crash
never loses an event, and never leaves an event of a change that was rolled
back. The transaction of every event also changes the row of the group or of
one of its members, so that no event is written for a group that is being
deleted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
import enum
from typing import Any, Protocol

from oslo_context import context as oslo_context
import sqlalchemy as sa

from nova_holistic.table.schema.models import EventRow

INDIVIDUAL = 16
"""Maximum number of members for which one operation writes separate events. If
it changes more members, events without a member contain their number."""

MAX_LENGTH = 255
"""Maximum number of stored characters of the IDs of a request and of a
user."""

SERVICE, WRITTEN = 'holistic_service', 'holistic_events'
"""Keys of a session's ``info``: the service that writes, and the events of
the transaction."""


class Transaction(Protocol):
    """A transaction that writes, with or without a session."""

    @property
    def info(self) -> dict[Any, Any]:
        """See ``orm.Session.info``."""

    def connection(self) -> sa.Connection:
        """See ``orm.Session.connection``."""

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """See ``orm.Session.execute``."""

    def scalar(self, statement: Any) -> Any:
        """See ``orm.Session.scalar``."""

    def scalars(self, statement: Any) -> Any:
        """See ``orm.Session.scalars``."""


class Kind(enum.StrEnum):
    """The kind of a change."""
    GROUP_STATUS = 'group.status'
    GROUP_REVISED = 'group.revised'
    GROUP_DELETED = 'group.deleted'
    PLAN_WRITTEN = 'plan.written'
    GROUP_BOUND = 'group.bound'
    GROUP_UNBOUND = 'group.unbound'
    LEASE_CHANGED = 'lease.changed'
    MEMBER_STATE = 'member.state'
    PLACE_MOVED = 'place.moved'
    HOST_REFUSED = 'host.refused'
    ALTERNATES_FAILED = 'alternates.failed'
    WORK_DELAYED = 'work.delayed'
    BOOT_STATUS = 'boot.status'
    BOOT_SERVER = 'boot.server'


# The statement uses the table and not the class: for objects of the class,
# SQLAlchemy would send one statement for each set of columns with values. The
# statement is built once, because it is sent for each server that Nova places.
_INSERT = sa.insert(EventRow.__table__)


@dataclass(frozen=True, slots=True)
class Event:
    """One change.

    :ivar at: naive UTC
    :ivar member: path; None for the group, and for an event about many members
    :ivar from_state: status or state before; None if the object is new, or if
        the event is not about a status or a state
    :ivar host: host of the member's place, or the host that was refused
    :ivar reasons: like the reasons of a group, each {at, message, ...}
    :ivar details: numbers, times and names: ``members``, ``lease_expires_at``,
        ``target`` of a binding, ...
    :ivar service: api, engine, scheduler or manage; empty if unknown
    :ivar request_id: ID of the request to the API or to Nova; None if no
        request caused the change
    :ivar user_id: ID of the user who sent the request
    :ivar id: number that rises in the order of writing; None before the event
        is written
    """

    group_uuid: str
    kind: Kind
    at: datetime
    member: str | None = None
    from_state: str | None = None
    to_state: str | None = None
    host: str | None = None
    reasons: tuple[Mapping[str, Any], ...] = ()
    details: Mapping[str, Any] | None = None
    service: str = ''
    request_id: str | None = None
    user_id: str | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A member whose state changed.

    :ivar from_state: previous state; empty if the group did not have the
        member
    :ivar host: host of the member's place
    """

    group_uuid: str
    path: str
    from_state: str
    host: str


def add(session: Transaction, events: Iterable[Event]) -> None:
    """Write events in the session's transaction, in at most one statement."""
    found = [_attributed(session, event) for event in events]
    if found:
        session.connection().execute(_INSERT, list(map(_values, found)))
        announce(session, found)


def announce(session: Transaction, events: Sequence[Event]) -> None:
    """Publish events after the commit without writing them."""
    session.info.setdefault(WRITTEN, []).extend(
        _attributed(session, event) for event in events)


def of_members(changed: Sequence[Changed], to_state: str, at: datetime,
               reasons: Sequence[Mapping[str, Any]] = ()) -> list[Event]:
    """Events of members that changed to the same state in one operation.

    Up to ``INDIVIDUAL`` members of a group have one event each. If a group has
    more changed members, it has one event for each former state, with the
    number of members.
    """
    groups: dict[str, list[Changed]] = defaultdict(list)
    for member in changed:
        groups[member.group_uuid].append(member)
    found = []
    for group_uuid, members in groups.items():
        common = Event(group_uuid, Kind.MEMBER_STATE, at,
                       to_state=str(to_state), reasons=tuple(reasons))
        if len(members) <= INDIVIDUAL:
            found += [replace(common, member=member.path, host=member.host,
                              from_state=str(member.from_state) or None)
                      for member in members]
        else:
            found += [replace(common, from_state=str(state),
                              details={'members': number})
                      for state, number in sorted(Counter(
                          member.from_state for member in members).items())]
    return found


def reason(at: str, message: str) -> dict[str, Any]:
    """A reason that every user may read, because its message does not contain
    names of hosts or services."""
    return {'at': at, 'message': message, 'public': message}


def delete(session: Transaction, group_uuid: str, at: datetime) -> None:
    """Delete the history of a group. The caller has deleted the group and its
    members before."""
    session.execute(
        sa.delete(EventRow).where(EventRow.group_uuid == group_uuid)
        .execution_options(synchronize_session=False))
    announce(session, [Event(group_uuid, Kind.GROUP_DELETED, at)])


def _attributed(session: Transaction, event: Event) -> Event:
    """The event with the service and the request of this thread."""
    context = oslo_context.get_current()
    if event.service or context is None:
        return replace(event, service=event.service
                       or session.info.get(SERVICE, ''))
    return replace(
        event, service=session.info.get(SERVICE, ''),
        request_id=_truncate(context.request_id),
        user_id=_truncate(context.user_id))


def _truncate(text: str | None) -> str | None:
    return text and text[:MAX_LENGTH]


def _values(event: Event) -> dict[str, Any]:
    return {'group_uuid': event.group_uuid, 'kind': str(event.kind),
            'at': event.at, 'member': event.member,
            'from_state': event.from_state, 'to_state': event.to_state,
            'host': event.host, 'reasons': list(map(dict, event.reasons)),
            'details': dict(event.details or {}), 'service': event.service,
            'request_id': event.request_id, 'user_id': event.user_id}
