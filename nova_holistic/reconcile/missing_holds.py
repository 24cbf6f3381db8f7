# SPDX-License-Identifier: Apache-2.0
"""Finds planned members whose holds are missing in Placement.

A user with administrator rights can delete a hold, for example with
``nova-manage placement audit --delete``. This does not change the generation
of the resource provider, but it lowers the usage that snapshots show.
"""

from collections.abc import (
    Callable, Iterable, Iterator, Mapping, Sequence)
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
import itertools

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.engine.update.unneeded_holds import drop_if_unwanted
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.reconcile.pass_reads import PassReads, Use
from nova_holistic.table.queries import overview
from nova_holistic.table.queries.overview import MemberOutline
from nova_holistic.table.queries.round_robin import RoundRobin
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Each = Callable[[Counter, str, Callable[..., bool], Iterable], None]
"""Calls a repair for each item and counts the repairs of this kind: see
``Reconciler._each``."""
_Members = Mapping[str, Sequence[MemberOutline]]


@dataclass(frozen=True, slots=True)
class _Check:
    """A check of the consumers of one resource provider.

    :ivar generation: generation of the provider before the check
    :ivar use: usage of the provider before the check; None if it was not known
    :ivar holds: holds of planned members that existed
    """

    generation: int | None
    use: Use | None
    holds: frozenset[str]


class MissingHolds:
    """Checks the holds of planned members. Only one caller may use it at a
    time.

    A pass requests the consumers of each provider whose generation, usage or
    planned members have changed since the last check. It also checks
    ``[reconciler] recheck_requests`` other providers, because their usage may
    be unknown: no list of usage contains a provider whose usage exceeds its
    capacity, and not every inventory driver reads the usage from Placement.
    """

    def __init__(self, conf, table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._conf = conf.reconciler
        self._table = table
        self._holds = holds
        self._clock = clock
        self._checks: dict[str, _Check] = {}
        self._rotation = RoundRobin()

    def reconcile_members(self, repaired: Counter[str],
                          planned: Sequence[MemberOutline],
                          reads: PassReads, each: Each) -> None:
        """Restore missing holds of planned members.

        :param planned: all planned members of groups that can be claimed
        :param reads: the reads of the pass; its snapshot, if any, is already
            taken
        """
        if reads.generations is None:
            return
        members: dict[str, list[MemberOutline]] = defaultdict(list)
        for member in planned:
            members[member.provider].append(member)
        self._checks = {provider: check for provider, check
                        in self._checks.items() if provider in members}
        use = reads.use()
        for provider in self._due(members, reads.generations, use):
            try:
                consumers = self._holds.consumers(provider)
            except hold_errors.HoldsError:
                LOG.exception('The holds on %s are not checked', provider)
                continue
            without_hold = [m for m in members[provider]
                            if m.hold not in consumers]
            if without_hold:
                each(repaired, 'vanished', self._restore,
                     overview.member_records(
                         self._table.database, without_hold))
            self._checks[provider] = _Check(
                reads.generations.get(provider), use and use.get(provider),
                frozenset(m.hold for m in members[provider]
                          if m.hold in consumers))

    def _due(self, members: _Members, generations: Mapping[str, int],
             use: Mapping[str, Use] | None) -> Iterator[str]:
        changed = [provider for provider in members if self._has_changed(
            provider, members[provider], generations, use)]
        yield from changed
        unchanged = members.keys() - set(changed)
        yield from itertools.islice(
            self._rotation.next(unchanged), self._conf.recheck_requests)

    def _has_changed(self, provider: str, members: Sequence[MemberOutline],
                     generations: Mapping[str, int],
                     use: Mapping[str, Use] | None) -> bool:
        check = self._checks.get(provider)
        return (check is None
                or check.generation is None
                or check.generation != generations.get(provider)
                or use is not None and check.use != use.get(provider)
                or any(m.hold not in check.holds for m in members))

    def _restore(self, member: MemberRecord) -> bool:
        """Write the hold again if the capacity is free. Otherwise, mark the
        member as lost."""
        now = self._clock()
        # A claim changes the row before it takes the hold, and a move of a
        # member changes the row before it drops the hold. If the row is still
        # planned there, the hold was therefore deleted by another process.
        if not self._table.change_state(
                member.id, [MemberState.PLANNED], MemberState.PLANNED, now,
                of_hold=member.hold, held=True):
            return False
        crash_points.reached('restore.row-held')
        group = self._table.get_group(member.group_uuid)
        if group is None:
            return False
        try:
            self._holds.put([member], group.project_id, group.user_id)
        except hold_errors.CapacityUnavailable as error:
            LOG.warning('Member %s of group %s has lost its place: %s',
                        member.member.path, group.uuid, error)
            return self._table.change_state(
                member.id, [MemberState.PLANNED], MemberState.LOST, now,
                of_hold=member.hold, held=False)
        crash_points.reached('restore.hold-put')
        drop_if_unwanted(self._table, self._holds, member)
        return True
