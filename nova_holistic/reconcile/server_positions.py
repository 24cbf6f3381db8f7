# SPDX-License-Identifier: Apache-2.0
"""The hosts of built members according to Nova.

The row of a member whose server is not moving has one place. While Nova moves
the server, the row also has the destination: the server needs its capacity on
both hosts until the move has ended, and a resize until it is confirmed.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
import uuid

from oslo_log import log as logging

from nova_holistic import crash_points
from nova_holistic.engine.member_rows import place_of
from nova_holistic import exceptions
from nova_holistic.inventory.base import CloudInventory
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.reconcile.instances import Instances, InstanceView
from nova_holistic.table.changes import member_moves
from nova_holistic.table.records import MemberRecord, MemberState, Place
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


class ServerPositions:
    """Writes the hosts of servers to the table.

    Every change is a compare-and-swap on the state, the server and the hosts
    of the row.
    """

    def __init__(self, inventory: CloudInventory, table: PlacementTable,
                 instances: Instances, clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._inventory = inventory
        self._table = table
        self._instances = instances
        self._clock = clock
        self._places: Mapping[str, Place] | None = None

    def forget_places(self) -> None:
        """Discard the stored places of hosts, so that they are read again."""
        self._places = None

    def refresh(self, group_uuid: str) -> None:
        """Write the current hosts of the servers of a group's built members.

        This is called before the group is planned, because a server may have
        moved since the last pass of the reconciler. If Nova does not respond,
        the table remains unchanged.
        """
        record = self._table.get_group(group_uuid)
        built = [row for row in self._table.members(group_uuid)
                 if row.state == MemberState.BUILT]
        if record is None or not built:
            return
        self.forget_places()
        try:
            views = self._instances.find(
                [row.instance_uuid for row in built], record.project_id)
            for row in built:
                view = views.get(row.instance_uuid)
                if view is not None and not is_settled(
                        row.place.host, row.destination, view):
                    self.correct(row, view)
                    crash_points.reached('positions.row-corrected')
        except exceptions.HolisticError as error:
            LOG.warning('Group %s is planned with its servers where they were '
                        'last seen: %s', group_uuid, error)

    def correct(self, member: MemberRecord, view: InstanceView) -> bool:
        """Write the host of a built member's server, and the destination of
        its move.

        :param member: the row as it was read before the state of the server;
            if it has changed since then, for example because the scheduler has
            written a destination, nothing is written
        :param view: the current state of the server
        :returns: whether the row was changed
        :raises ServiceFailed: Nova does not respond
        """
        move = (self._instances.move(member.instance_uuid)
                if view.may_have_two_hosts else None)
        if move is None and (view.is_moving or member.destination is not None
                             and _may_be_sent(view)):
            # Nova names no destination yet, but the scheduler may have written
            # one to the row; or the move is just ending.
            return False
        destination = None
        if move is None:
            place = self.place(member, view.host, view.node)
        else:
            place = self.place(member, move.source)
            if move.host != move.source:
                destination = self.place(member, move.host, move.node)
        if (place, destination) == (member.place, member.destination):
            return False
        return member_moves.correct(
            self._table.database, member, self._clock(), place=place,
            destination=destination)

    def correct_later_row(self, member: MemberRecord,
                          view: InstanceView) -> bool:
        """Like ``correct``, if the row was read after the state of the server.

        The scheduler may have written a destination in between. If the row has
        one, the state of the server is read again.
        """
        if member.destination is not None and not view.may_have_two_hosts:
            current = self._instances.get(member.instance_uuid)
            if current is None:
                return False
            view = current
        return self.correct(member, view)

    def place(self, member: MemberRecord, host: str | None,
              node: str = '') -> Place:
        """The place of a host. It has a location, such as a rack, only if the
        member or the inventory has the host.

        :param host: None means the place of the member
        """
        for known in (member.place, member.destination):
            if known is not None and host in (None, known.host):
                return known
        if self._places is None:
            self._places = _places(
                self._inventory.uncounted_snapshot())
            if host not in self._places and self._inventory.has_cache:
                # The host may be new.
                self._places = _places(self._inventory.snapshot())
        return self._places.get(host, Place(host, node, '', ()))


def _may_be_sent(view: InstanceView) -> bool:
    """Whether Nova may be moving the server to the host that the scheduler has
    chosen. A server without a host gets one when it is unshelved."""
    return view.may_have_two_hosts or (
        view.host is None and view.task is not None)


def _places(snapshot: Snapshot) -> Mapping[str, Place]:
    return {host.name: place_of(host) for host in snapshot.hosts}


def is_settled(host: str, destination: object, view: InstanceView) -> bool:
    """Whether the table has Nova's host of a built member's server, and Nova
    is not moving the server.

    :param destination: the destination in the table, or None
    """
    return (view.host in (None, host) and destination is None
            and not view.may_have_two_hosts)


def fields_of_build(member: MemberRecord, place: Place) -> dict[str, Any]:
    """The changed fields of a row whose server was built at a place.

    Its hold at another place is new. So a hold that still exists at the former
    place never counts as held at this one.
    """
    if place.provider == member.place.provider:
        return {'place': place}
    return {'place': place, 'hold': str(uuid.uuid4())}
