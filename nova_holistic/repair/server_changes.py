# SPDX-License-Identifier: Apache-2.0
"""The differences between a server and the definition of its member.

The row of a built member has the requirements with which its server was
created.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.messages.marked_text import format_message, MarkedText
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.plan import Reason
from nova_holistic.solver.check import fits
from nova_holistic.table.records import MemberRecord

MOVABLE = ('ACTIVE', 'PAUSED', 'SHUTOFF')
"""Statuses of servers that Nova migrates: live, or cold if they are off."""

RESIZABLE = ('ACTIVE', 'SHUTOFF')
"""Statuses of servers that Nova resizes."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server in Nova.

    :ivar flavor: ID of its flavor
    :ivar idle: whether Nova has no task for it
    :ivar image: UUID of its image; empty if its root disk is a volume
    """

    status: str
    flavor: str
    idle: bool = True
    image: str = ''

    def allows(self, statuses: Sequence[str]) -> bool:
        return self.idle and self.status in statuses


@dataclass(frozen=True, slots=True)
class ServerChange:
    """The change that the definition requires of one server.

    :ivar row: row of the built member
    :ivar wanted: requirements of the definition, with the flavor resolved
    :ivar flavor: flavor to which the server must be resized; None for no
        resize
    :ivar reasons: reasons why the server does not match the definition
    :ivar obstacle: reason why Nova cannot carry out the action now; None if it
        can
    """

    row: MemberRecord
    wanted: Requirements
    flavor: Flavor | None = None
    reasons: tuple[Reason, ...] = ()
    obstacle: Reason | None = None

    @property
    def is_open(self) -> bool:
        """Whether the server does not match the definition."""
        return bool(self.reasons)

    @property
    def is_unwritten(self) -> bool:
        """Whether the server matches the definition, but the row does not
        state it yet."""
        return not self.is_open and _key(
            self.row.member.requirements) != _key(self.wanted)

    def after(self) -> MemberRecord:
        """The row after the action, except for its host."""
        row, found = self.row, self.row.member.requirements
        if found.flavor == self.wanted.flavor:
            # The flavor may have been redefined since the server was created.
            wanted = replace(self.wanted, resources=found.resources)
        else:
            wanted, row = self.wanted, replace(row, planned=None)
        return replace(row, member=replace(row.member, requirements=wanted))


def change_of(row: MemberRecord, wanted: Member, server: ServerStatus | None,
              snapshot: Snapshot) -> ServerChange:
    """
    :param wanted: the member of the definition, bound to the snapshot
    :param server: None if Nova does not show it
    """
    found, target = row.member.requirements, wanted.requirements
    flavor = _other_flavor(found, target, server, snapshot.flavors)
    reasons = []
    if flavor is not None:
        reasons.append(Reason.of(row.member.path, format_message(
            'the definition requires flavor {}', target.flavor or '')))
    if _host_requirements(found) != _host_requirements(target):
        reasons.extend(_unmet_requirements(row, wanted, snapshot))
    change = ServerChange(row, target, flavor, tuple(reasons))
    return replace(change, obstacle=_obstacle(change, server)
                   if reasons else None)


def _other_flavor(found: Requirements, target: Requirements,
                  server: ServerStatus | None,
                  flavors: Mapping[str, Flavor]) -> Flavor | None:
    """The flavor to which the server must be resized. A flavor may be given by
    its name or by its ID."""
    if target.flavor is None or target.flavor == found.flavor:
        return None
    wanted = flavors[target.flavor]
    current = flavors.get(found.flavor or '')
    if current is not None and current.id == wanted.id or (
            server is not None and server.flavor == wanted.id):
        return None
    return wanted


def _unmet_requirements(row: MemberRecord, wanted: Member,
                        snapshot: Snapshot) -> Sequence[Reason]:
    """Requirements of the definition that the host does not meet."""
    hosts = {host.name: host for host in snapshot.hosts}
    host = hosts.get(row.place.host)
    bare = replace(wanted, requirements=replace(
        wanted.requirements, resources=FrozenMapping()))
    if host is None or fits(bare, _enabled(host)):
        return ()
    return [Reason.of(row.member.path, text) for text in _differences(
        row.member.requirements, wanted.requirements)]


def _differences(found: Requirements,
                 target: Requirements) -> list[MarkedText]:
    changed = [name for name, was, now in (
        ('availability zone', found.availability_zone,
         target.availability_zone),
        ('aggregates', found.aggregates, target.aggregates),
        ('location', found.location, target.location),
        ('traits', (found.required_traits, found.forbidden_traits),
         (target.required_traits, target.forbidden_traits))) if was != now]
    return [format_message('its host does not have the {} of the definition',
                           ', '.join(changed))]


def _obstacle(change: ServerChange,
              server: ServerStatus | None) -> Reason | None:
    path = change.row.member.path
    if server is None:
        return Reason.of(path, MarkedText('Nova does not show the server'))
    resize = change.flavor is not None
    if server.allows(RESIZABLE if resize else MOVABLE):
        return None
    return Reason.of(path, format_message(
        'the server is {}{}: Nova cannot {} it', server.status,
        '' if server.idle else ', and Nova is working on it',
        'resize' if resize else 'migrate'))


def _enabled(host: Host) -> Host:
    return replace(host, enabled=True)


def _host_requirements(wanted: Requirements) -> Any:
    """The requirements of a member on its host, without capacity."""
    return (wanted.availability_zone, wanted.aggregates, wanted.location,
            wanted.required_traits, wanted.forbidden_traits)


def _key(wanted: Requirements) -> Any:
    return wanted.flavor, _host_requirements(wanted)
