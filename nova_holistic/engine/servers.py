# SPDX-License-Identifier: Apache-2.0
"""Members that were handed to servers, against what became of those."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from oslo_log import log as logging

from nova_holistic.engine.freeing import drop_if_unwanted
from nova_holistic.engine.instances import Instances, InstanceView
from nova_holistic.engine.missing_servers import MissingServers
from nova_holistic.engine.resized_servers import ResizedServers
from nova_holistic.engine.rows import place_of
from nova_holistic.engine.sightings import Sightings
from nova_holistic import exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.inventory.base import InventoryDriver
from nova_holistic.table.claim import OWNED
from nova_holistic.table import overview
from nova_holistic.table.overview import GroupOutline, MemberOutline
from nova_holistic.table.records import MemberRecord, MemberState, Place
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

ERROR = 'ERROR'
BUILDING = 'BUILD'

Each = Callable[[Counter, str, Callable[..., bool], Iterable], None]


class ServerMender:
    """A member that a server has is where that server is; one that no server
    has got after all is planned again."""

    def __init__(self, conf, inventory: InventoryDriver,
                 table: PlacementTable, holds: HoldClient,
                 instances: Instances, clock: Callable[[], datetime]):
        """:param clock: gives naive UTC"""
        self._conf = conf
        self._inventory = inventory
        self._table = table
        self._holds = holds
        self._sightings = Sightings(instances, clock)
        self._missing = MissingServers(conf, instances, holds)
        self._resized = ResizedServers(table, holds, clock)
        self._clock = clock
        self._places: Mapping[str, Place] | None = None

    def mend(self, mended: Counter[str], groups: Mapping[str, GroupOutline],
             each: Each) -> None:
        """Look at every claimed and built member of these groups."""
        self._places = None
        by_project: dict[str, list[MemberOutline]] = {}
        for member in overview.members(
                self._table.database, OWNED, overview.ACTIVE):
            if member.group_uuid in groups:
                by_project.setdefault(groups[member.group_uuid].project_id,
                                      []).append(member)
        try:
            self._sightings.renew({m.instance_uuid for members
                                   in by_project.values() for m in members})
        except exceptions.HolisticError:
            LOG.exception('Which servers have changed is not known')
        known, views = self._all_views(by_project)
        if self._missing.are_credible(known, views):
            astray = [m for m in known if m.instance_uuid in views
                      and not _as_known(m, views[m.instance_uuid])]
            for row in overview.whole(self._table.database, astray):
                case, mend = self._case(
                    row, views[row.instance_uuid], groups[row.group_uuid])
                each(mended, case, mend, [row])
            self._resized.mend(mended, known, self._sightings.last, each)

    def _all_views(self, by_project: Mapping[str, list[MemberOutline]]
                   ) -> tuple[list[MemberOutline],
                              Mapping[str, InstanceView | None]]:
        """Members of the projects whose servers Nova tells of, and what it
        tells."""
        known, views = [], {}
        for project_id, members in by_project.items():
            try:
                views.update(self._views(members, project_id))
            except exceptions.HolisticError:
                LOG.exception('Servers of project %s are not seen to',
                              project_id)
                continue
            known.extend(members)
        return known, views

    def _views(self, members: Iterable[MemberOutline], project_id: str,
               ) -> Mapping[str, InstanceView | None]:
        """What servers are like now with which something may be amiss."""
        unsure = {m.instance_uuid for m in members if not _as_known(
            m, self._sightings.last(m.instance_uuid))}
        return self._sightings.look(unsure, project_id)

    def _case(self, member: MemberRecord, view: InstanceView | None,
              group: GroupOutline) -> tuple[str, Callable[..., bool]]:
        if member.state == MemberState.BUILT:
            if view is None:
                return 'gone', self._server_gone
            return 'moved', lambda row: self._server_moved(row, view)
        if view is None or view.status == ERROR and not view.host:
            return 'unclaimed', lambda row: self._undo_claim(row, group)
        if view.status == ERROR and not view.launched:
            return 'failed', self._build_failed
        return 'built', lambda row: self._server_built(row, view)

    def _server_built(self, member: MemberRecord,
                      view: InstanceView) -> bool:
        """The claim went well, and nobody has said so yet."""
        if view.status == BUILDING or view.host is None:
            return False
        return self._table.change_state(
            member.id, [MemberState.CLAIMED], MemberState.BUILT,
            self._clock(), of_instance=member.instance_uuid, held=False,
            place=self._place(member, view))

    def _server_moved(self, member: MemberRecord,
                      view: InstanceView) -> bool:
        """It was migrated, evacuated, resized or unshelved elsewhere."""
        if _stays(view, member.place.host):
            return False
        return self._table.change_state(
            member.id, [MemberState.BUILT], MemberState.BUILT, self._clock(),
            of_instance=member.instance_uuid, place=self._place(member, view))

    def _server_gone(self, member: MemberRecord) -> bool:
        """It was deleted: its room is the cloud's again, not the group's."""
        return self._table.change_state(
            member.id, [MemberState.BUILT], MemberState.RELEASED,
            self._clock(), of_instance=member.instance_uuid, held=False)

    def _build_failed(self, member: MemberRecord) -> bool:
        """It stands on its host in ERROR without having run, and has that
        room until it is deleted."""
        return self._table.change_state(
            member.id, [MemberState.CLAIMED], MemberState.FAILED,
            self._clock(), of_instance=member.instance_uuid)

    def _undo_claim(self, member: MemberRecord, group: GroupOutline) -> bool:
        """A claim whose server was never built: the hold is brought back.

        The scheduler died between claim and swap, or between swap and
        answer; or Nova had stopped waiting for the answer; or the server was
        deleted while it was scheduled.
        """
        grace = timedelta(seconds=self._conf.reconciler.grace)
        since = member.updated_at
        if since is not None and since > self._clock() - grace:
            return False
        if not self._table.change_state(
                member.id, [MemberState.CLAIMED], MemberState.CLAIMED,
                since, of_instance=member.instance_uuid, held=True):
            return False
        held = self._bring_back(member, group)
        undone = self._table.change_state(
            member.id, [MemberState.CLAIMED],
            MemberState.PLANNED if held else MemberState.LOST, self._clock(),
            of_instance=member.instance_uuid, instance_uuid=None, held=held)
        if held and not undone:
            drop_if_unwanted(self._table, self._holds, member)
        return undone

    def _bring_back(self, member: MemberRecord, group: GroupOutline) -> bool:
        """Whether the member's place is held again."""
        if self._holds.exists(member.hold) is not None:
            return True
        owner = group.project_id, group.user_id
        try:
            if self._holds.exists(member.instance_uuid) is not None:
                self._holds.unswap(member, member.instance_uuid, *owner)
            else:
                self._holds.put([member], *owner)
        except (hold_errors.CapacityGone, hold_errors.HoldGone,
                hold_errors.AllocationChanged) as error:
            LOG.warning('Member %s of group %s has lost its place: %s',
                        member.member.path, group.uuid, error)
            return False
        return True

    def _place(self, member: MemberRecord, view: InstanceView) -> Place:
        """Where the server is; its rack is known if the inventory knows it."""
        if view.host == member.place.host:
            return member.place
        if self._places is None:
            self._places = {host.name: place_of(host)
                            for host in self._inventory.snapshot().hosts}
        return self._places.get(
            view.host, Place(view.host, view.node, '', ()))


def _stays(view: InstanceView, host: str) -> bool:
    """Whether a built server is on that host, on the way, or nowhere."""
    return view.host in (None, host) or view.is_moving


def _as_known(member: MemberOutline, view: InstanceView | None) -> bool:
    """Whether there is nothing to be done about a member's server."""
    return (member.state == MemberState.BUILT and view is not None
            and _stays(view, member.host))
