# SPDX-License-Identifier: Apache-2.0
"""Caches the hosts of the members of groups, with the number of members in
each domain. A read evaluates only members whose row or position has changed.
Hosts that are not those of the plan are located at each read. If a group was
planned with other levels, the hosts of the plan are located when a member is
evaluated, and all of them again after ``MAX_AGE_SECONDS``.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections import OrderedDict
from dataclasses import dataclass, field, replace
import threading
import time

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.layered_mapping import (
    differences, LayeredMapping)
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.model.nova.server_position import Position
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler.policies.policy_evaluation import (
    REMEMBERED_GROUPS, scopes_of_members)
from nova_holistic.table.queries.group_cache import REMEMBERED
from nova_holistic.table.records import GroupRecord, MemberRecord
from nova_holistic.table.store import OCCUPYING

MAX_AGE_SECONDS = 600
"""Seconds after which hosts of a plan with other levels are located again. The
location of a host of a plan with the current levels is that of the plan."""

Locate = Callable[[Collection[str]], Mapping[str, Host]]
"""Returns the hosts with some names at their current locations."""


@dataclass(frozen=True, slots=True)
class SizedGroup:
    """A group whose members are placed.

    :ivar group: the group with its current members
    :ivar levels: current levels of the topology, coarse to fine
    """

    record: GroupRecord
    group: Group
    levels: tuple[str, ...]

    @property
    def has_same_levels(self) -> bool:
        """Whether the group was planned with the current levels, so that the
        locations of its places are valid."""
        return self.record.levels == self.levels


@dataclass(frozen=True, slots=True)
class Placed:
    """The hosts of the members of a group.

    :ivar placed: hosts; of moving members, the destinations
    :ivar sources: sources of moving members, by path
    :ivar displaced: IDs of rows whose member is not at its place in the table,
        or does not use capacity
    """

    placed: PlacedMembers
    sources: Mapping[str, Host]
    displaced: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Known:
    """The result of the last read of a group.

    :ivar key: values of the group that determine which members are counted,
        and whether their planned locations are valid
    :ivar full_at: time at which all hosts in ``by_name`` were located: see
        ``clock``
    :ivar others: names of hosts that are not those of the plan, by path
    :ivar by_name: names of hosts of a plan with other levels, by path
    :ivar sources: names of the sources of moving members, by path
    """

    key: Sequence
    rows: Mapping[int, MemberRecord]
    positions: Mapping[int, Position]
    placed: PlacedMembers
    full_at: float
    others: Mapping[str, str] = FrozenMapping()
    by_name: LayeredMapping[str, str] = field(default_factory=LayeredMapping)
    sources: Mapping[str, str] = FrozenMapping()
    displaced: frozenset[int] = frozenset()


class MemberHosts:
    """The cache. The state of a group is replaced as a whole, so that threads
    may share an instance."""

    def __init__(self, limit: int = REMEMBERED,
                 clock: Callable[[], float] = time.monotonic):
        """
        :param limit: maximum number of cached members
        :param clock: returns seconds since any point in time
        """
        self._limit, self._clock = limit, clock
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def read(self, sized: SizedGroup, rows: Mapping[int, MemberRecord],
             positions: Mapping[int, Position], locate: Locate) -> Placed:
        """The hosts of the members that have a position.

        :param rows: members by the IDs of their rows
        :param positions: positions by the IDs of the rows; of a row without a
            change, the same object as in the last read
        :param locate: called at most once
        :raises HolisticError: ``locate`` has raised it
        """
        uuid, key = sized.record.uuid, (
            sized.group, sized.levels, sized.has_same_levels)
        with self._lock:
            known = self._known.get(uuid)
        # An equal group may be another object: comparing it takes long.
        if known is None or known.key[0] is not sized.group or (
                known.key[1:] != key[1:]):
            known = _Known(key, {}, {}, PlacedMembers(
                scopes_of_members(sized.group), sized.levels, {}),
                self._clock())
        found, changes, new = _changed(
            known, sized.has_same_levels, rows, positions)
        if found.by_name and found.full_at <= self._clock() - MAX_AGE_SECONDS:
            found = replace(found, full_at=self._clock())
            new = found.by_name.copied()
        names = {*found.others.values(), *found.sources.values(),
                 *new.values()}
        now = locate(names) if names else {}
        for path, name in (*found.others.items(), *new.items()):
            if found.placed.hosts.get(path) != now[name]:
                changes[path] = now[name]
        if changes:
            found = replace(
                found, placed=found.placed.with_changes(changes))
        self._remember(uuid, found)
        return Placed(found.placed, {
            path: now[name] for path, name in found.sources.items()},
            found.displaced)

    def _remember(self, uuid: str, found: _Known) -> None:
        with self._lock:
            self._forget(uuid)
            self._known[uuid] = found
            self._weight += len(found.rows)
            # An older group is parsed again, and is then another object.
            while len(self._known) > 1 and (
                    self._weight > self._limit
                    or len(self._known) > REMEMBERED_GROUPS):
                self._forget(next(iter(self._known)))

    def _forget(self, uuid: str) -> None:
        known = self._known.pop(uuid, None)
        self._weight -= len(known.rows) if known is not None else 0


def _changed(known: _Known, has_same_levels: bool,
             rows: Mapping[int, MemberRecord],
             positions: Mapping[int, Position]
             ) -> tuple[_Known, dict[str, Host | None], dict[str, str]]:
    """The state with other rows and positions, the new hosts that the plan
    locates, and the names of the new hosts of a plan with other levels."""
    before, last = known.rows, known.positions
    different = dict.fromkeys((*differences(before, rows),
                               *differences(last, positions)))
    changed = [number for number in different if number in rows]
    gone = [number for number in different
            if number not in rows and number in before]
    if not changed and not gone:
        return known, {}, {}
    others, sources = dict(known.others), dict(known.sources)
    by_name: dict[str, str] = {}
    displaced = set(known.displaced)
    changes: dict[str, Host | None] = {}
    for number in (*gone, *changed):
        displaced.discard(number)
        if number in before:
            path = before[number].member.path
            others.pop(path, None)
            sources.pop(path, None)
            changes[path] = None
    for number in changed:
        row, position = rows[number], positions.get(number)
        path = row.member.path
        if position is None:
            displaced.add(number)
            continue
        if position.source not in (None, position.host):
            sources[path] = position.source
        if position.host != row.place.host or row.state not in OCCUPYING:
            displaced.add(number)
        if position.host != row.place.host:
            others[path] = position.host
            changes.pop(path, None)
        elif has_same_levels:
            changes[path] = locations.planned_host(row.place)
        else:
            by_name[path] = position.host
            changes.pop(path, None)
    for path in [path for path, host in changes.items()
                 if host == known.placed.hosts.get(path)]:
        del changes[path]
    former = [before[number].member.path for number in different
              if number in before]
    return replace(
        known, rows=rows, positions=positions, others=others, sources=sources,
        by_name=known.by_name.updated(by_name, former) if by_name or former
        else known.by_name, displaced=frozenset(displaced)), changes, by_name
