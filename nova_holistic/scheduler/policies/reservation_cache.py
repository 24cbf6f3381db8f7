# SPDX-License-Identifier: Apache-2.0
"""The reservations of groups at the last read of a scheduler."""

from collections.abc import Callable, Mapping, Sequence
from collections import Counter
import copy
from dataclasses import dataclass, field
import functools
from typing import Any

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.reservation import Reservation
from nova_holistic.scheduler.policies.member_positions import (
    MemberPositionCache, Positions)
from nova_holistic.table.queries.cached_group import Found
from nova_holistic.table.records import GroupRecord


Each = Sequence[tuple[GroupRecord, Reservation]]


@dataclass(frozen=True, slots=True)
class ReservedByGroup:
    """The reservations of one group, and the data from which they follow.

    :ivar hosts: hosts of members that are not at their planned places, by name
    :ivar each: the reservations, with the record of the group
    """

    found: Found
    positions: Positions
    hosts: Mapping[str, Host]
    each: Each


@dataclass(frozen=True)
class Reservations:
    """The reservations of all groups. The object never changes.

    :ivar each: the reservations, with the records of their groups
    :ivar groups: the reservations and their data by the UUID of the group;
        empty if the positions of members could not be read
    :ivar source: the groups and the positions that were read
    """

    each: Each = ()
    groups: Mapping[str, ReservedByGroup] = field(default_factory=dict)
    source: tuple[Any, Any] = (None, None)

    @functools.cached_property
    def hosts(self) -> frozenset[str]:
        """Names of hosts of members that are not at their planned places."""
        return frozenset(name for group in self.groups.values()
                         for name in group.hosts)

    def __len__(self) -> int:
        return len(self.each)

    @functools.cached_property
    def domains(self) -> frozenset[Domain]:
        """All domains that are reserved."""
        return frozenset(self._numbers)

    @functools.cached_property
    def _numbers(self) -> Counter[Domain]:
        """Number of reservations of each domain."""
        return Counter(domain for _, reservation in self.each
                       for domain in reservation.domains)

    @functools.cached_property
    def _by_group(self) -> Mapping[str, Each]:
        found: dict[str, list[tuple[GroupRecord, Reservation]]] = {}
        for record, reservation in self.each:
            found.setdefault(record.uuid, []).append((record, reservation))
        return found

    def of_source(self, groups: Mapping[str, ReservedByGroup],
                  source: tuple[Any, Any]) -> 'Reservations':
        """The same reservations with another source. Cached results are kept,
        except the hosts of the groups."""
        found = copy.copy(self)
        vars(found).update(groups=groups, source=source)
        vars(found).pop('hosts', None)
        return found

    @functools.cached_property
    def _closed_to(self) -> dict[tuple[str, tuple[int, ...]],
                                 frozenset[Domain]]:
        """Results of ``closed_to`` by the UUID of the group and the indexes of
        its reservations that contain the member."""
        return {}

    def closed_to(self, group_uuid: str, path: str) -> frozenset[Domain]:
        """Domains with at least one reservation that does not contain the
        member.

        :param group_uuid: UUID of its group
        :param path: its path
        """
        key = group_uuid, tuple(
            index for index, (_, reservation)
            in enumerate(self._by_group.get(group_uuid, ()))
            if path in reservation.members)
        if not key[1]:
            # The group is not exclusive. Such results are not cached, because
            # they would remain in memory.
            return self.domains
        if key not in self._closed_to:
            self._closed_to[key] = self.closed(
                group_uuid, lambda reservation, _: path in reservation.members)
        return self._closed_to[key]

    def closed(self, group_uuid: str | None, is_open: Callable[
            [Reservation, GroupRecord], bool]) -> frozenset[Domain]:
        """Domains with at least one reservation that is not open.

        :param group_uuid: UUID of the only group whose reservations may be
            open, which means that they do not apply to the server
        :param is_open: returns whether a reservation of this group is open
        """
        mine = [reservation for record, reservation
                in self._by_group.get(group_uuid or '', ())
                if is_open(reservation, record)]
        opened = Counter(domain for reservation in mine
                         for domain in reservation.domains)
        return self.domains - {
            domain for domain, number in opened.items()
            if number == self._numbers[domain]} if opened else self.domains


@dataclass(slots=True)
class ReservationCache:
    """The reservations of the last read. They are replaced as a whole, so that
    threads need no lock.

    :ivar found: None before the first read
    :ivar members: cache of the positions of members
    """

    found: Reservations | None = None
    members: MemberPositionCache = field(default_factory=MemberPositionCache)
