# SPDX-License-Identifier: Apache-2.0
"""Each move of a server takes into account concurrent moves of its group.

Nova's databases name the destination of a move some time after the scheduler
has chosen it. Two members that are moved at the same time could get the same
host in this interval. So the scheduler writes the destination to the placement
table before it answers. If another member has received a new place or
destination since the filters checked the move, Nova chooses a host again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nova import exception
from nova import objects
from oslo_log import log as logging
import oslo_messaging as messaging

from nova_holistic import crash_points, exceptions
from nova_holistic.scheduler import action_destination, nova_errors
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler.policies import membership
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.table.changes import member_moves
from nova_holistic.table.changes.member_moves import Move
from nova_holistic.table.records import MemberState, Place

LOG = logging.getLogger(__name__)

ATTEMPTS = 5
"""Maximum number of times that Nova chooses a host for one move. Each further
attempt follows a move of another member that was written in the meantime."""

Answer = list[Any]
"""The answer of Nova's scheduler manager to a request for one server."""


class _NotMoved(Exception):
    """Nova had found a host for each attempt, but the move ends without one.
    Further capacity would not help."""


@dataclass(frozen=True, slots=True)
class _GroupMove:
    """One attempt to move a member of a group with hard policies.

    :ivar own: the member, with the state of its group that the filters checked
    :ivar before: the server's allocations before Nova chooses a host; None if
        it has none
    """

    connections: Connections
    own: Membership
    before: Mapping[str, Any] | None

    def is_written(self, answer: Answer) -> bool:
        """Write the chosen destination to the row of the member.

        :returns: False if another member has received a new place or
            destination since the check; True also if the destination cannot be
            written, because an error does not prevent the move
        """
        try:
            with nova_errors.as_refusals():
                result = member_moves.write_destination(
                    self.connections.table.database, replace(
                        self.own.own, destination=self._place(answer)),
                    self.own.rows, self.connections.clock())
            if result == Move.OVERTAKEN:
                return False
            crash_points.reached('move.destination-written')
        except exceptions.HolisticError as error:
            LOG.warning(
                'The destination of instance %(instance)s cannot be written: '
                '%(error)s', {'instance': self.own.own.instance_uuid,
                              'error': error})
        return True

    def undo(self) -> None:
        """Restore the allocations that the server had before Nova chose a
        host.

        :raises _NotMoved: the allocations cannot be restored
        """
        instance = self.own.own.instance_uuid
        LOG.info('Another member of group %(group)s has moved in the '
                 'meantime: Nova chooses another host for instance '
                 '%(instance)s',
                 {'group': self.own.record.uuid, 'instance': instance})
        try:
            self.connections.holds.restore(instance, self.before)
            crash_points.reached('move.allocations-restored')
        except exceptions.HolisticError as error:
            LOG.warning('The allocations of instance %(instance)s cannot be '
                        'restored: %(error)s',
                        {'instance': instance, 'error': error})
            raise _NotMoved('Placement does not answer') from error

    def _place(self, answer: Answer) -> Place:
        name, node, provider = _chosen(answer[0])
        host = locations.locate_hosts(
            self.connections.topology, [name])[name]
        return Place(name, node, provider, host.location,
                     tuple(sorted(host.labels.items())))


def choose(connections: Connections, spec: 'objects.RequestSpec',
           instance_uuid: str, stock: Callable[..., Answer],
           free_capacity: Callable[[], bool]) -> Answer:
    """The selections of stock Nova for a server that is moved. If its group
    has hard policies, the destination is written to the row of the member.

    :param stock: function that returns the answer of stock Nova; its argument
        ``spec_obj`` is the request
    :param free_capacity: called if Nova finds no host; frees capacity if the
        request permits this, and returns whether it has freed any
    :raises NoValidHost: Nova finds no host, the allocations of a failed
        attempt cannot be restored, or other members of the group have moved
        during each attempt
    """
    try:
        try:
            return _chosen_alone(connections, spec, instance_uuid, stock)
        except (exception.NoValidHost, messaging.ExpectedException):
            if not free_capacity():
                raise
        return _chosen_alone(connections, spec, instance_uuid, stock)
    except _NotMoved as error:
        # A conductor knows only Nova's errors.
        raise exception.NoValidHost(reason=str(error)) from error


def _chosen_alone(connections: Connections, spec: 'objects.RequestSpec',
                  instance_uuid: str, stock: Callable[..., Answer]) -> Answer:
    """Stock Nova's selections that were made while no other member of the
    group moved.

    :raises _NotMoved: Nova has found hosts, but the move ends without one
    """
    spec = action_destination.with_destination(
        connections, spec, instance_uuid)
    for _ in range(ATTEMPTS):
        # Nova changes the request, so each attempt has its own copy.
        request = spec.obj_clone()
        move = _begin(connections, request, instance_uuid)
        answer = stock(spec_obj=request)
        if move is None or move.is_written(answer):
            return answer
        move.undo()
    raise _NotMoved('other servers of its group are being moved')


def _begin(connections: Connections, request: 'objects.RequestSpec',
           instance_uuid: str) -> _GroupMove | None:
    """The move of a built member of a group with hard policies.

    :returns: None if no destination has to be written: the server is not such
        a member, or the table or Nova's database does not answer
    """
    try:
        with nova_errors.as_refusals():
            own = membership.find(connections, request)
            if (own is None or own.own.instance_uuid != instance_uuid
                    or own.own.state != MemberState.BUILT
                    or not any(rule.hard for rule
                               in own.evaluation(connections).rules)):
                return None
            membership.store_for_next_find(request, own)
            return _GroupMove(connections, own,
                              connections.holds.exists(instance_uuid))
    except exceptions.HolisticError as error:
        # The filter decides whether the server may be moved nevertheless.
        LOG.warning('The moves of other servers of the group of instance '
                    '%(instance)s cannot be read: %(error)s',
                    {'instance': instance_uuid, 'error': error})
        return None


def _chosen(answer: Any) -> tuple[str, str, str]:
    """Host, node and provider of the first selection of a server. The form for
    old conductors does not name the provider: it is empty."""
    if isinstance(answer, Mapping):
        return answer['host'], answer['nodename'], ''
    first = answer[0]
    return first.service_host, first.nodename, first.compute_node_uuid
