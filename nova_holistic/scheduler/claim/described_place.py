# SPDX-License-Identifier: Apache-2.0
"""Checks that a host still meets the description of its member.

An operator may move a host to another zone, rack or aggregate after the group
was planned. Nova checks only what the request itself names, and requests often
leave the zone and the aggregates to the description.
"""

from collections.abc import Callable

from nova_holistic import exceptions
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler.claim.request_refusal import HostRefused
from nova_holistic.scheduler.hosts.host_reader import zone_of
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.table.records import MemberState


def check(own: Membership, state, levels: tuple[str, ...],
          located: Callable[[], Host]) -> None:
    """Check the zone, the aggregates and the location of a host against the
    description of a member whose server is being created.

    The server of a built member may be moved elsewhere, so it is not checked.
    A location refers to the levels of its plan: if the levels have changed, it
    is not checked.

    :param state: nova.scheduler.host_manager.HostState with its aggregates
    :param levels: current levels of the topology
    :param located: returns the host at its current location
    :raises HostRefused: the host does not meet the description
    """
    if own.own.state != MemberState.CLAIMED:
        return
    wanted = own.own.member.requirements
    cause = _other_zone(wanted, state) or _other_aggregates(wanted, state)
    if not cause and wanted.location and own.record.levels == levels:
        cause = _other_location(wanted, located)
    if cause:
        raise HostRefused(cause, state.host)


def _other_zone(wanted: Requirements, state) -> str:
    described = wanted.availability_zone
    if described in (None, zone_of(state)):
        return ''
    return 'is in another availability zone than the member describes'


def _other_aggregates(wanted: Requirements, state) -> str:
    if not wanted.aggregates:
        return ''
    found = {key for each in state.aggregates for key in (each.name,
                                                          each.uuid)}
    return '' if wanted.aggregates <= found else (
        'is not in every aggregate that the member describes')


def _other_location(wanted: Requirements,
                    located: Callable[[], Host]) -> str:
    try:
        host = located()
    except exceptions.HolisticError:
        return 'has no unique location'
    vertex = (*host.location, host.name)
    return '' if vertex[:len(wanted.location)] == wanted.location else (
        'is not at the location that the member describes')
