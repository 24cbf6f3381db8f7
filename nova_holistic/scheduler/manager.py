# SPDX-License-Identifier: Apache-2.0
"""The manager of nova-scheduler that places servers with pointers on their
planned hosts."""

from collections.abc import Mapping, Sequence
import functools

from oslo_log import log as logging
import oslo_messaging as messaging
from oslo_serialization import jsonutils
import sqlalchemy as sa

import nova.conf
from nova import context as nova_context
from nova import exception
from nova import objects

from nova_holistic import conf, crash_points, exceptions
from nova_holistic.metrics import exporter, instruments
from nova_holistic.scheduler import (
    bound_servers, connections, group_moves, nova_errors, nova_version,
    pointed_request, request_memory, selection_notifications)
from nova_holistic.scheduler.claim.claims import UndoFailed
from nova_holistic.scheduler.claim.evacuation_capacity import (
    EvacuationCapacity)
from nova_holistic.scheduler.claim.request_refusal import (
    for_user, RequestRefused)
from nova_holistic.scheduler.host_refresh import RefreshingManager
from nova_holistic.scheduler.hosts import cells, default_zone
from nova_holistic.scheduler.hinted import names_binding
from nova_holistic.scheduler.lookup import Lookup
from nova_holistic.scheduler.notification_sender import NotificationSender
from nova_holistic.scheduler.pointer import (
    has_pointer, must_agree, Pointer, target_of)
from nova_holistic.scheduler.policies import adopted_servers
from nova_holistic.scheduler.server_moves import is_evacuation
from nova_holistic.table.records import MemberState
from nova_holistic.table import startup_check

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

_SENTINEL = RefreshingManager._sentinel
"""Default of ``spec_obj`` in Nova: an old conductor sends no request spec."""


class HolisticSchedulerManager(RefreshingManager):
    """Answers creates that have a pointer, or that name a bound server group
    or Heat stack. Stock Nova answers all other requests. Concurrent moves of
    members take each other into account: see ``group_moves``."""

    def __init__(self, *args, **kwargs):
        conf.register_opts(CONF)
        # An error here ends the program. A worker that ends would only be
        # started again.
        nova_version.must_be_supported(CONF)
        connections.check_options()
        startup_check.check_schema_usable(CONF)
        self._notifications = NotificationSender()
        super().__init__(*args, **kwargs)

    def init_host(self, *args, **kwargs):
        super().init_host(*args, **kwargs)
        # A forked worker must not use the connections of its parent.
        connections.reset()
        exporter.start(CONF)

    def cleanup_host(self):
        # Nova 32 calls this when the service stops, after the last request.
        super().cleanup_host()
        self._notifications.close()

    def graceful_shutdown(self, *args):
        # Nova 33 calls this instead after the last request. Nova 34 calls it
        # with a timeout, and may still answer requests.
        super().graceful_shutdown(*args)
        self._notifications.close()

    @messaging.expected_exceptions(exception.NoValidHost)
    @request_memory.read_once
    def select_destinations(
            self, context, request_spec=None, filter_properties=None,
            spec_obj=_SENTINEL, instance_uuids=None,
            return_objects=False, return_alternates=False):
        """Return the selections of each server, as Nova's manager does.

        :raises NoValidHost: the pointer is refused, or Nova finds no host
        """
        stock = functools.partial(
            super().select_destinations, context, request_spec,
            filter_properties, instance_uuids=instance_uuids,
            return_objects=return_objects,
            return_alternates=return_alternates)
        hints = _hints(spec_obj, filter_properties)
        if '_nova_check_type' in hints:
            return stock(spec_obj=spec_obj)
        if not (has_pointer(hints) or names_binding(hints)):
            return self._answer_without_pointer(
                context, spec_obj, instance_uuids, stock)
        if spec_obj is self._sentinel:
            spec_obj = objects.RequestSpec.from_primitives(
                context, request_spec, filter_properties)
        uuids = instance_uuids or [spec_obj.instance_uuid]
        try:
            pointed, moves = self._pointed_request(context, spec_obj, uuids)
            if pointed is None:
                return self._answer_without_pointer(
                    context, spec_obj, uuids, stock)
            spec_obj = pointed.spec
            if moves:
                return self._move(
                    context, default_zone.with_member_zone(
                        spec_obj, self.host_manager), uuids, stock)
            return self._look_up(context, pointed, uuids, return_objects,
                                 return_alternates)
        except exceptions.HolisticError as error:
            yields = (CONF.holistic.failure_mode == 'yield'
                      and not isinstance(error, UndoFailed))
            self._log_refusal(spec_obj.scheduler_hints, uuids, error, yields)
            if yields:
                return stock(spec_obj=spec_obj)
            raise exception.NoValidHost(
                reason=for_user(
                    error.__cause__ if isinstance(error, UndoFailed)
                    else error, context.request_id)) from error

    def _pointed_request(self, context, spec, uuids):
        """The PointedRequest, and whether its server exists. The request is
        None if stock Nova answers it.

        :raises HolisticError: a database does not answer, or the request is
            one of those that ``_is_move`` and ``must_agree`` refuse
        """
        bindings = connections.get().table.bindings
        named = has_pointer(spec.scheduler_hints)
        bound = None if named else bound_servers.find(bindings, spec, uuids)
        if not named and bound is None:
            return None, False
        pointed = pointed_request.read(
            connections.get().table, bound.spec if bound else spec)
        with nova_errors.as_refusals():
            moves = self._is_move(context, uuids, pointed.unread_servers(
                connections.get()))
        if named and not moves:
            must_agree(bindings, spec.scheduler_hints)
        if bound is None:
            return pointed, moves
        return None if moves and not bound.is_member else pointed, moves

    def _answer_without_pointer(self, context, spec, uuids, stock):
        """Stock Nova's answer; ``_move`` if a group has adopted the server."""
        if len(uuids or ()) > 1:
            # Only a create has several servers.
            adopted_servers.note_new(uuids)
            return stock(spec_obj=spec)
        if spec is self._sentinel or spec is None:
            return stock(spec_obj=spec)
        try:
            found = adopted_servers.group_of(connections.get(), spec)
            if found is not None:
                spec = default_zone.with_member_zone(spec, self.host_manager)
        except exceptions.HolisticError as error:
            LOG.warning('Instance %(instance)s is moved without its group: '
                        '%(error)s', {'instance': spec.instance_uuid,
                                      'error': error})
            found = None
        if found is None:
            return stock(spec_obj=spec)
        return self._move(context, spec, [spec.instance_uuid], stock)

    def _move(self, context, spec, uuids, stock):
        """The selections of stock Nova. If Nova finds no host for an
        evacuation, unclaimed holds are dropped."""
        if len(uuids) > 1:
            return stock(spec_obj=spec)
        (uuid,) = uuids
        return group_moves.choose(
            connections.get(), spec, uuid, stock,
            functools.partial(self._free_capacity, context, spec, uuid))

    def _free_capacity(self, context, spec, uuid) -> bool:
        try:
            with nova_errors.as_refusals():
                return is_evacuation(uuid) and EvacuationCapacity(
                    context.elevated(), spec, connections.get(), self
                ).free(uuid)
        except exceptions.HolisticError as error:
            LOG.warning('No capacity can be freed for instance '
                        '%(instance)s: %(error)s',
                        {'instance': uuid, 'error': error})
            return False

    @instruments.LOOKUP_SECONDS.of()
    def _look_up(self, context, pointed, uuids, return_objects,
                 return_alternates):
        spec = pointed.spec
        pointer = Pointer.from_hints(spec.scheduler_hints)
        wanted = return_objects and return_alternates
        with selection_notifications.sent(
                context, spec, uuids, self.notifier, self._notifications):
            selections = Lookup(
                context, pointed, connections.get(), self).answer(
                    pointer, uuids,
                    CONF.scheduler.max_attempts - 1 if wanted else 0)
            instruments.LOOKUPS.add(result='answered')
            self._log_answer(pointer, uuids, selections)
        if return_objects:
            return selections
        return jsonutils.to_primitive(
            [selection[0].to_dict() for selection in selections])

    def _is_move(self, context, uuids, others=()) -> bool:
        """Whether a server of the request exists. An existing server does not
        return to its planned place.

        :param others: servers whose cells the request needs later
        :raises RequestRefused: its create has failed already, or every server
            of the request is deleted
        """
        context = context.elevated()
        mapped = cells.of_servers_once(context, uuids, others)
        if _are_deleted(mapped, uuids):
            # Nova has freed their capacity already. If this request allocated
            # it again, no process would free it.
            raise RequestRefused('the server was deleted before it was placed')
        if all(each.cell_id is None for each in mapped):
            return False
        mappings = objects.InstanceMappingList.get_by_instance_uuids(
            context, uuids)
        cells_of = {mapping.instance_uuid: mapping.cell_mapping
                    for mapping in mappings
                    if mapping.cell_mapping is not None}
        if any(cell.is_cell0() for cell in cells_of.values()):
            raise RequestRefused(
                'the create of this server has failed already')
        for uuid, cell in cells_of.items():
            try:
                self._record_built(context, uuid, cell)
            except exceptions.HolisticError as error:
                # A reconciler records it later.
                LOG.warning('The build of instance %(instance)s cannot be '
                            'recorded: %(error)s',
                            {'instance': uuid, 'error': error})
            crash_points.reached('built.group-settled')
        return bool(cells_of)

    def _record_built(self, context, uuid, cell) -> None:
        """Change a claimed member to built if its server was launched."""
        table, clock = connections.get().table, connections.get().clock
        row = table.member_of_instance(uuid)
        if row is None or row.state != MemberState.CLAIMED:
            return
        with nova_context.target_cell(context.elevated(), cell) as target:
            instances = objects.InstanceList.get_by_filters(
                target, {'uuid': [uuid], 'deleted': False}, expected_attrs=[])
        if any(instance.launched_at for instance in instances):
            table.change_state(row.id, {MemberState.CLAIMED},
                               MemberState.BUILT, clock(), of_instance=uuid,
                               held=False)
            crash_points.reached('built.row-changed')
            table.settle(row.group_uuid, clock())

    def _log_answer(self, pointer, uuids, selections) -> None:
        for uuid, (selection, *_) in zip(uuids, selections):
            LOG.info(
                'Instance %(instance)s is placed on host %(host)s as member '
                '%(member)s of group %(group)s',
                {'instance': uuid, 'host': selection.service_host,
                 'group': pointer.group, 'member': pointer.member})

    def _log_refusal(self, hints, uuids, error, yields) -> None:
        instruments.LOOKUPS.add(result='yielded' if yields else 'refused')
        LOG.warning(
            'The pointer of instances %(instances)s to %(target)s is '
            'refused%(mode)s: %(error)s',
            {'instances': ', '.join(uuids), 'target': target_of(hints),
             'error': error,
             'mode': ' and yields to stock Nova' if yields else ''})


def _are_deleted(mapped: Sequence[sa.Row], uuids: Sequence[str]) -> bool:
    """Whether every server was deleted before a cell had its record."""
    return len(mapped) == len(uuids) and all(
        row.cell_id is None and row.queued_for_delete for row in mapped)


def _hints(spec_obj, filter_properties):
    """Scheduler hints. The request of an old conductor is not converted."""
    if spec_obj is _SENTINEL:
        if not isinstance(filter_properties, Mapping):
            return {}
        return filter_properties.get('scheduler_hints') or {}
    known = spec_obj is not None and 'scheduler_hints' in spec_obj
    return known and spec_obj.scheduler_hints or {}
