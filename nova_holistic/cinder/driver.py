# SPDX-License-Identifier: Apache-2.0
"""The driver of cinder-scheduler that places volumes with pointers in their
planned pools."""

from collections.abc import Mapping
import threading
from typing import Any

from cinder import exception
from cinder.scheduler import filter_scheduler
from oslo_config import cfg
from oslo_log import log as logging

from nova_holistic import crash_points, exceptions
from nova_holistic.cinder.claimed_volumes import ClaimedVolumes
from nova_holistic.cinder import connections
from nova_holistic.cinder.filters import HolisticPoolFilter, PLANNED_POOL
from nova_holistic.cinder.member_create import MemberCreate
from nova_holistic.cinder.refusal import write_fault
from nova_holistic.scheduler.pointer import has_pointer, Pointer, target_of
from nova_holistic.table import startup_check

CONF = cfg.CONF
LOG = logging.getLogger(__name__)


class FilterNotEnabled(exceptions.HolisticError):
    """The configuration of Cinder lacks the filter of this package."""


class HolisticScheduler(filter_scheduler.FilterScheduler):
    """Creates a volume with a pointer in its planned pool. Cinder's own
    scheduler answers all other requests; HolisticPoolFilter keeps them from
    planned capacity."""

    def __init__(self, *args: Any, **kwargs: Any):
        """
        :raises FilterNotEnabled: HolisticPoolFilter is not enabled
        :raises TableError: the placement table cannot be used
        """
        connections.register_opts()
        name = HolisticPoolFilter.__name__
        if name not in CONF.scheduler_default_filters:
            raise FilterNotEnabled(
                f'[DEFAULT] scheduler_default_filters must contain {name}')
        startup_check.check_schema_usable(CONF)
        super().__init__(*args, **kwargs)
        self._claimed = ClaimedVolumes(self.host_manager)
        self._selecting = threading.Lock()

    def schedule_create_volume(self, context, request_spec: Any,
                               filter_properties: dict[str, Any]) -> None:
        """Select the pool of a volume, and let its service create it.

        :raises NoValidBackend: no pool takes the volume, or its pointer is
            refused
        """
        hints = filter_properties.get('scheduler_hints')
        filter_properties.pop(PLANNED_POOL, None)
        if not has_pointer(hints):
            super().schedule_create_volume(
                context, request_spec, filter_properties)
            return
        try:
            self._create_member(context, request_spec, filter_properties)
        except exceptions.HolisticError as error:
            yields = CONF.holistic_cinder.failure_mode == 'yield'
            _log_refusal(request_spec, hints, error, yields)
            if not yields:
                raise exception.NoValidBackend(reason=write_fault(
                    context, request_spec['volume_id'], error)) from error
            # The empty name permits every pool.
            filter_properties[PLANNED_POOL] = ''
            super().schedule_create_volume(
                context, request_spec, filter_properties)

    def _create_member(self, context, request_spec: Any,
                       filter_properties: dict[str, Any]) -> None:
        """
        :raises HolisticError: the volume does not get its planned pool
        """
        # Cinder accepts any JSON as the value of a hint.
        hints = {name: value if isinstance(value, str | list) else str(value)
                 for name, value
                 in filter_properties['scheduler_hints'].items()}
        create = MemberCreate(
            connections.get(), Pointer.from_hints(hints), request_spec)
        pool = filter_properties[PLANNED_POOL] = create.claim()
        try:
            super().schedule_create_volume(
                context, request_spec, filter_properties)
        except exception.NoValidBackend as error:
            retry = filter_properties.get('retry') or {}
            LOG.warning('Cinder refuses pool %(pool)s for volume %(volume)s: '
                        '%(error)s',
                        {'pool': pool, 'volume': request_spec['volume_id'],
                         'error': error})
            raise create.refused(
                self._state(context, pool),
                retry.get('backends') or ()) from error
        except BaseException:
            create.undo()
            raise
        crash_points.reached('cinder.request-sent')

    def _state(self, context, pool: str) -> Any:
        """The state of a pool; None if its service is down or disabled."""
        return next(
            (state for state in self.host_manager.get_all_backend_states(
                context.elevated()) if state.backend_id == pool), None)

    def _schedule(self, context, request_spec: Any,
                  filter_properties: dict[str, Any] | None = None) -> Any:
        # The filter reads the table, and other requests continue in the
        # meantime. Without the lock, two of them could get the same capacity.
        with self._selecting:
            return super()._schedule(context, request_spec, filter_properties)

    def _choose_top_backend(self, weighed_backends, request_spec):
        chosen = super()._choose_top_backend(weighed_backends, request_spec)
        connections.get().planned.note_selection(
            request_spec['volume_id'], chosen.obj.backend_id)
        return chosen

    def update_service_capabilities(self, service_name, *args, **kwargs):
        """Take the report of a service. After the report of a volume service,
        the rows of claimed and built volumes are reconciled."""
        super().update_service_capabilities(service_name, *args, **kwargs)
        if service_name == 'volume':
            self._claimed.reconcile()


def _log_refusal(request_spec: Any, hints: Mapping[str, Any],
                 error: exceptions.HolisticError, yields: bool) -> None:
    LOG.warning(
        'The pointer of volume %(volume)s to %(target)s is refused%(mode)s: '
        '%(error)s',
        {'volume': request_spec['volume_id'], 'target': target_of(hints),
         'error': error,
         'mode': " and yields to Cinder's own scheduler" if yields else ''})
