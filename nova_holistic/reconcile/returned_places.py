# SPDX-License-Identifier: Apache-2.0
"""A member whose server is deleted gets its place back or is released."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
import functools
import uuid

from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.engine.group_parser import GroupParser
from nova_holistic.engine.update.outdated_members import is_outdated
from nova_holistic.engine.update.unneeded_holds import drop_if_unwanted
from nova_holistic.holds.allocation_bodies import allocations, same
from nova_holistic.holds.client import HoldClient
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.elastic.growth import is_surplus
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.table.changes.member_release import Surplus
from nova_holistic.table.queries.overview import GroupOutline
from nova_holistic.table.records import MemberRecord, MemberState, Place
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)


class ReturnedPlaces:
    """Returns the places of members, whether they were claimed, built or
    failed.

    While the lease of its group is running, the member is planned and held
    again at its place, or lost if the capacity is no longer available. After
    the lease, which a release ends as well, the member is released. It is also
    released if the group has the desired number of servers without it. If an
    update has changed the definition of the member while it had the server,
    the member is lost, so that it is planned again for its new definition.
    """

    def __init__(self, table: PlacementTable, holds: HoldClient,
                 clock: Callable[[], datetime]):
        """:param clock: returns naive UTC"""
        self._table = table
        self._holds = holds
        self._clock = clock
        self._groups = GroupParser()

    def give_back(self, member: MemberRecord, group: GroupOutline, *,
                  take_allocation: bool = True) -> bool:
        """Separate a member from its server, and return its place.

        The row states that it is held before the hold is written, and remains
        claimed until the hold exists. So the next pass finds the state after a
        crash, and no server can claim the member before it is held.

        :param member: the member that was read; if its state, hold, server,
            host or resources have changed since then, nothing is changed
        :param take_allocation: whether the hold takes over the allocation of
            the server in Placement; otherwise the server keeps it
        :returns: whether the member was separated from its server
        :raises HoldsError: Placement does not respond; repeat the call
        """
        as_planned = _as_planned(member)
        if not self._table.change_state(
                member.id, [member.state], MemberState.CLAIMED,
                member.updated_at, of_instance=member.instance_uuid,
                of_hold=member.hold, of_place=member, held=True,
                hold=as_planned.hold,
                requirements=as_planned.member.requirements,
                place=as_planned.place):
            return False
        crash_points.reached('return.row-held')
        member = as_planned
        if take_allocation:
            self._take_allocation(member, group)
        definition = self._definition(member)
        if self._released(replace(member, state=MemberState.CLAIMED),
                          definition):
            return True
        if definition is not None and is_outdated(member, definition):
            self._holds.drop([member.hold])
            crash_points.reached('return.outdated-dropped')
            held = False
        else:
            held = self._held(member, group)
        done = self._table.change_state(
            member.id, [MemberState.CLAIMED],
            MemberState.PLANNED if held else MemberState.LOST, self._clock(),
            of_instance=member.instance_uuid, instance_uuid=None, held=held)
        crash_points.reached('return.row-changed')
        if held and not done:
            drop_if_unwanted(self._table, self._holds, member)
        return done

    def _take_allocation(self, member: MemberRecord,
                         group: GroupOutline) -> None:
        """Turn the allocation of the server into the hold in one step, if the
        allocation is that of the member. So no other consumer can take the
        capacity."""
        if (self._is_held(member)
                or self._holds.exists(member.instance_uuid) is None):
            return
        try:
            self._holds.unswap(member, member.instance_uuid,
                               group.project_id, group.user_id)
            crash_points.reached('return.room-taken')
        except (hold_errors.CapacityUnavailable, hold_errors.HoldMissing,
                hold_errors.AllocationChanged) as error:
            # Nova has just freed the capacity, or it is at another provider.
            LOG.info('The capacity of the server of member %s of group %s '
                     'cannot be held again: %s', member.member.path,
                     group.uuid, error)

    def _released(self, member: MemberRecord,
                  definition: Group | None) -> bool:
        """Release the member if the lease has ended, if the member was
        released before, or if the group has enough servers without it.

        :param definition: the group as its document describes it
        :returns: whether the member is released now
        """
        # A function that returns whether the group has enough servers without
        # the member; None if the number of its members is fixed.
        surplus: Surplus | None = None
        if definition is not None and definition.is_elastic:
            surplus = functools.partial(
                is_surplus, definition, member.member.path)
        if not self._table.release_unleased(member, self._clock(), surplus):
            return False
        crash_points.reached('return.released')
        self._holds.drop([member.hold])
        crash_points.reached('return.released-dropped')
        self._table.forget_holds([member.hold])
        return True

    def _definition(self, member: MemberRecord) -> Group | None:
        """The group as its document describes it; None if it does not exist,
        or if a type of policy is no longer installed."""
        record = self._table.get_group(member.group_uuid)
        try:
            return record and self._groups.parse(record)
        except exceptions.InvalidDocument:
            return None

    def _is_held(self, member: MemberRecord) -> bool:
        """Whether the place of the member is held. Another allocation of its
        hold, for example at the place before a move, is dropped."""
        found = self._holds.exists(member.hold)
        if found is None or same(found, allocations(member)):
            return found is not None
        LOG.warning('The hold of member %s of group %s is not at its place, '
                    'and is dropped', member.member.path, member.group_uuid)
        self._holds.drop([member.hold])
        crash_points.reached('return.other-hold-dropped')
        return False

    def _held(self, member: MemberRecord, group: GroupOutline) -> bool:
        """Hold the place of the member, unless it is already held.

        :returns: whether the place is held now
        """
        if self._is_held(member):
            return True
        try:
            # The host of a server that was moved may be unknown to Placement.
            if not member.place.provider:
                raise hold_errors.CapacityUnavailable('its host is not known')
            self._holds.put([member], group.project_id, group.user_id)
            crash_points.reached('return.hold-put')
        except hold_errors.CapacityUnavailable as error:
            LOG.warning('Member %s of group %s has lost its place: %s',
                        member.member.path, group.uuid, error)
            return False
        return True


def _as_planned(member: MemberRecord) -> MemberRecord:
    """The member with the planned resources, even if its server was resized.

    Schedulers cache the resources of a row until its hold changes.
    """
    if member.planned is None:
        return member
    requirements = replace(member.member.requirements,
                           resources=FrozenMapping(member.planned))
    return replace(
        member, planned=None, hold=str(uuid.uuid4()),
        member=replace(member.member, requirements=requirements),
        place=_with_amounts(member.place, requirements))


def _with_amounts(place: Place, wanted: Requirements) -> Place:
    """The place with an allocation of the requested amounts, if further
    providers than the root provider serve resources outside request groups."""
    if place.allocation is None or wanted.request_groups:
        return place
    resources = FrozenMapping({
        provider: found for provider, amounts
        in place.allocation.resources.items()
        if (found := FrozenMapping({
            name: wanted.resources[name] for name in amounts
            if wanted.resources.get(name)}))})
    return replace(place, allocation=replace(
        place.allocation, resources=resources,
        mappings=FrozenMapping({'': tuple(resources)})))
