# SPDX-License-Identifier: Apache-2.0
"""Finds planned members whose holds are missing in Placement.

A user with administrator rights can delete a hold, for example with
``nova-manage placement audit --delete``. This does not change the generation
of the resource provider, but it lowers the usage that snapshots show.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
import itertools

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.engine.update.unneeded_holds import drop_if_unwanted
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.reconcile.pass_reads import PassReads
from nova_holistic.table.queries.outline_index import PlannedMembers
from nova_holistic.table.queries import overview
from nova_holistic.table.queries.round_robin import RoundRobin
from nova_holistic.table.records import MemberRecord, MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

Each = Callable[[Counter, str, Callable[..., bool], Iterable], None]
"""Calls a repair for each item and counts the repairs of this kind: see
``Reconciler._each``."""
_Planned = Mapping[str, PlannedMembers]


@dataclass(frozen=True, slots=True)
class _Check:
    """A check of the consumers of one resource provider.

    :ivar generation: generation of the provider before the check
    :ivar host: the provider in the snapshot before the check; None if it was
        not known
    :ivar members: the planned members, whose holds all existed; None if a hold
        did not exist
    :ivar holds: holds of planned members that existed
    """

    generation: int | None
    host: Host | None
    members: PlannedMembers | None
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
                          planned: _Planned,
                          reads: PassReads, each: Each) -> None:
        """Restore missing holds of planned members.

        :param planned: all planned members of groups that can be claimed, by
            the UUID of the provider; the members of a provider are the same
            object as in an earlier call if they have not changed
        :param reads: the reads of the pass; its snapshot, if any, is already
            taken
        """
        if reads.generations is None:
            return
        for provider in self._checks.keys() - planned.keys():
            del self._checks[provider]
        hosts = reads.hosts()
        for provider in self._due(planned, reads.generations, hosts):
            try:
                consumers = self._holds.consumers(provider)
            except hold_errors.HoldsError:
                LOG.exception('The holds on %s are not checked', provider)
                continue
            members = planned[provider]
            without_hold = [m for m in members.values()
                            if m.hold not in consumers]
            if without_hold:
                each(repaired, 'vanished', self._restore,
                     overview.member_records(
                         self._table.database, without_hold))
            self._checks[provider] = _Check(
                reads.generations.get(provider),
                None if hosts is None else hosts.get(provider),
                None if without_hold else members,
                frozenset(m.hold for m in members.values()
                          if m.hold in consumers))

    def _due(self, planned: _Planned, generations: Mapping[str, int],
             hosts: Mapping[str, Host] | None) -> Iterator[str]:
        changed = [provider for provider, members in planned.items()
                   if self._has_changed(
                       provider, members, generations.get(provider),
                       hosts)]
        yield from changed
        unchanged = planned.keys() - set(changed)
        yield from itertools.islice(
            self._rotation.next(unchanged), self._conf.recheck_requests)

    def _has_changed(self, provider: str, members: PlannedMembers,
                     generation: int | None,
                     hosts: Mapping[str, Host] | None) -> bool:
        check = self._checks.get(provider)
        if (check is None or check.generation is None
                or check.generation != generation):
            return True
        host = check.host if hosts is None else hosts.get(provider)
        is_same_host, is_same = host is check.host, members is check.members
        if (not is_same_host and _use(host) != _use(check.host)
                or not is_same and any(
                    m.hold not in check.holds for m in members.values())):
            return True
        if not (is_same_host and is_same):
            # The next pass need not compare these objects again.
            self._checks[provider] = replace(
                check, host=host, members=members)
        return False

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


def _use(host: Host | None) -> Mapping[str, int] | None:
    """The used amount of each resource class of a provider; None if it is not
    known."""
    return host and {name: inventory.used
                     for name, inventory in host.inventories.items()}
