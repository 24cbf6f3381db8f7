# SPDX-License-Identifier: Apache-2.0
"""Mends what crashes left, from the table's state and Placement's truth."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
import itertools

from oslo_log import log as logging

from nova_holistic.engine.freeing import GONE, drop_if_unwanted
from nova_holistic.engine.instances import Instances
from nova_holistic.engine.lifecycle import Lifecycle
from nova_holistic.engine.planner import Planner
from nova_holistic.engine.servers import ServerMender
from nova_holistic import exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.table.claim import CLAIMABLE
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState)
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

ACTIVE = (GroupStatus.PLANNING, GroupStatus.PLANNED, GroupStatus.BUILDING,
          GroupStatus.COMPLETE)
"""Statuses of groups with members that are planned, claimed or built."""


class Reconciler:
    """After a pass the table and Placement agree, as far as both answer.

    Every change is a compare-and-swap: passes, plans, claims and releases may
    run at the same time. What cannot be mended now is tried in the next pass.
    """

    def __init__(self, conf, inventory: InventoryDriver,
                 table: PlacementTable, holds: HoldClient,
                 instances: Instances, clock: Callable[[], datetime]):
        """:param clock: gives naive UTC"""
        self._conf = conf
        self._inventory = inventory
        self._table = table
        self._holds = holds
        self._clock = clock
        self._planner = Planner(conf, inventory, table, holds, clock)
        self._lifecycle = Lifecycle(conf, table, holds, clock)
        self._servers = ServerMender(
            conf, inventory, table, holds, instances, clock)

    def reconcile(self) -> Mapping[str, int]:
        """One pass; how often each case was met."""
        mended: Counter[str] = Counter()
        groups = {group.uuid: group for group
                  in self._table.list_groups(statuses=ACTIVE)}
        mended['expired'] = len(self._lifecycle.expire())
        self._each(mended, 'abandoned', self._abandon, groups.values())
        self._each(mended, 'stray', self._release_stray, [
            member for member in self._planned()
            if member.group_uuid not in groups])
        self._each(mended, 'leftover', self._drop_leftover,
                   self._table.find_members(GONE, held=True))
        self._dead_hosts(mended, groups)
        self._vanished_holds(mended, groups)
        self._servers.mend(mended, groups, self._each)
        for group in groups.values():
            self._table.settle(group.uuid, self._clock())
        self._each(mended, 'replanned', self._replan, self._waiting(groups))
        return +mended

    @staticmethod
    def _each(mended: Counter[str], case: str,
              mend: Callable[..., bool], things: Iterable) -> None:
        """Mend them one by one: where one fails, the others are still done."""
        for thing in things:
            try:
                mended[case] += bool(mend(thing))
            except exceptions.HolisticError:
                LOG.exception('Not mended in this pass: %s %s', case, thing)

    def _planned(self) -> tuple[MemberRecord, ...]:
        return self._table.find_members([MemberState.PLANNED])

    def _claimable(self, groups: Mapping[str, GroupRecord]
                   ) -> list[MemberRecord]:
        """Planned members of groups whose holds are in place."""
        return [m for m in self._planned() if m.group_uuid in groups
                and groups[m.group_uuid].status in CLAIMABLE]

    def _abandon(self, group: GroupRecord) -> bool:
        """A planner died between writing the group and saying 'planned'.

        It may have died before or after its holds were put. What an engine
        has begun another engine finishes.
        """
        now = self._clock()
        if (group.status != GroupStatus.PLANNING or group.task is not None
                or not self._abandoned(group.updated_at)):
            return False
        if not self._table.update_group(
                group.uuid, [GroupStatus.PLANNING], status=GroupStatus.ERROR,
                updated_at=now, reasons=[
                    {'at': '', 'message': 'planning broke off'}]):
            return False
        self._table.release(
            [m.id for m in self._table.members(group.uuid)], now)
        return True

    def _release_stray(self, member: MemberRecord) -> bool:
        """A planner wrote or left members in a group that had been given up.

        Nobody can claim them there.
        """
        group = self._table.get_group(member.group_uuid)
        if group is None or group.task is not None or group.status not in (
                GroupStatus.ERROR, GroupStatus.UNPLACEABLE):
            return False
        self._table.release([member.id], self._clock())
        return True

    def _drop_leftover(self, member: MemberRecord) -> bool:
        """A release, a lost race or a planner died before its DELETE was
        answered.

        The row is remembered for a while: where a planner was slow and not
        dead, its put may still be on the way. So a lost member's hold is
        left alone: it may be just what it will be planned with.
        """
        if (member.state == MemberState.LOST
                and not self._abandoned(member.updated_at)):
            return False
        self._holds.drop([member.hold])
        if not self._abandoned(member.updated_at):
            return False
        self._table.forget_holds([member.hold])
        return True

    def _abandoned(self, since: datetime | None) -> bool:
        """Whether something has stood still for longer than the grace."""
        grace = timedelta(seconds=self._conf.reconciler.grace)
        return since is None or since <= self._clock() - grace

    def _vanished_holds(self, mended: Counter[str],
                        groups: Mapping[str, GroupRecord]) -> None:
        """Planned members whose hold is not in Placement.

        One request for each host, not for each member.
        """
        planned = sorted(self._claimable(groups), key=_provider)
        for provider, members in itertools.groupby(planned, _provider):
            try:
                there = self._holds.consumers(provider)
            except hold_errors.HoldsError:
                LOG.exception('Holds on %s are not seen to', provider)
                continue
            self._each(mended, 'vanished', self._restore, [
                m for m in members if m.hold not in there])

    def _dead_hosts(self, mended: Counter[str],
                    groups: Mapping[str, GroupRecord]) -> None:
        """Planned members whose host takes no servers any more.

        Where that is said of every host, it is not the hosts that are ill.
        """
        planned = self._claimable(groups)
        if not planned:
            return
        try:
            hosts = self._inventory.snapshot().hosts
        except exceptions.HolisticError:
            LOG.exception('Planned hosts are not seen to')
            return
        alive = {host.name for host in hosts if host.enabled}
        if alive:
            self._each(mended, 'stranded', self._strand, [
                m for m in planned if m.place.host not in alive])

    def _strand(self, member: MemberRecord) -> bool:
        """A hold on a host that is disabled, down or gone is worth nothing.
        """
        if not self._table.change_state(
                member.id, [MemberState.PLANNED], MemberState.LOST,
                self._clock()):
            return False
        LOG.warning('Member %s of group %s is lost: its host %s takes no '
                    'servers', member.member.path, member.group_uuid,
                    member.place.host)
        self._holds.drop([member.hold])
        self._table.forget_holds([member.hold])
        return True

    def _waiting(self, groups: Mapping[str, GroupRecord]
                 ) -> list[GroupRecord]:
        """Groups with lost members, longest untouched first; an engine that
        has a task with one sees to them."""
        lost = {m.group_uuid for m in self._table.find_members(
            [MemberState.LOST], held=False)}
        waiting = sorted((groups[uuid] for uuid in lost & groups.keys()
                          if groups[uuid].task is None),
                         key=lambda group: (group.updated_at, group.uuid))
        return waiting[:self._conf.reconciler.replans]

    def _replan(self, group: GroupRecord) -> bool:
        return not self._planner.replan(group.uuid).reasons

    def _restore(self, member: MemberRecord) -> bool:
        """Somebody removed the hold, ``nova-manage placement audit`` say.

        It is put back where its room is still there; else the place is lost.
        """
        now = self._clock()
        # A claim changes the row before it takes the hold: a row that is
        # planned still was robbed.
        if not self._table.change_state(
                member.id, [MemberState.PLANNED], MemberState.PLANNED, now,
                held=True):
            return False
        group = self._table.get_group(member.group_uuid)
        if group is None:
            return False
        try:
            self._holds.put([member], group.project_id, group.user_id)
        except hold_errors.CapacityGone as error:
            LOG.warning('Member %s of group %s has lost its place: %s',
                        member.member.path, group.uuid, error)
            return self._table.change_state(
                member.id, [MemberState.PLANNED], MemberState.LOST, now,
                held=False)
        drop_if_unwanted(self._table, self._holds, member)
        return True


def _provider(member: MemberRecord) -> str:
    return member.place.provider
