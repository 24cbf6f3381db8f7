# SPDX-License-Identifier: Apache-2.0
"""What groups had reserved when a scheduler last read it."""

from collections.abc import Callable, Mapping, Sequence
from collections import Counter
from dataclasses import dataclass, field
import functools
from typing import Any

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.reservation import Reservation
from nova_holistic.scheduler.policies.member_positions import (
    MemberPositionCache, Positions)
from nova_holistic.table.queries.group_cache import Found
from nova_holistic.table.records import GroupRecord


Each = Sequence[tuple[GroupRecord, Reservation]]


@dataclass(frozen=True, slots=True)
class ReservedByGroup:
    """What one group reserves, and what that follows from.

    :ivar hosts: of members that are not where they were planned, by name
    """

    found: Found
    positions: Positions
    hosts: Mapping[str, Host]
    each: Each


@dataclass(frozen=True)
class Reservations:
    """What each group reserves. It never changes.

    :ivar each: with the record of the group
    :ivar groups: what they are made of, by the UUID of the group
    :ivar source: the groups and the positions that were read
    """

    each: Each = ()
    groups: Mapping[str, ReservedByGroup] = field(default_factory=dict)
    source: tuple[Any, Any] = (None, None)

    @functools.cached_property
    def hosts(self) -> frozenset[str]:
        """Names of hosts of members that are not where they were planned."""
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
        """By how many reservations each domain is reserved."""
        return Counter(domain for _, reservation in self.each
                       for domain in reservation.domains)

    @functools.cached_property
    def _by_group(self) -> Mapping[str, Each]:
        found: dict[str, list[tuple[GroupRecord, Reservation]]] = {}
        for record, reservation in self.each:
            found.setdefault(record.uuid, []).append((record, reservation))
        return found

    def closed(self, group_uuid: str | None, is_open: Callable[
            [Reservation, GroupRecord], bool]) -> frozenset[Domain]:
        """Domains that are reserved by a reservation that is not open.

        :param group_uuid: the only group that may have open reservations
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
    """What was read is replaced as a whole, so that threads need no lock.

    :ivar found: None before anything was read
    """

    found: Reservations | None = None
    members: MemberPositionCache = field(default_factory=MemberPositionCache)
