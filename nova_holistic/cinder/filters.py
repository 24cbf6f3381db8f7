# SPDX-License-Identifier: Apache-2.0
"""A member is created in its planned pool, and no other volume uses planned
capacity."""

from collections.abc import Iterator, Mapping
import copy
from typing import Any

from cinder.scheduler import filters
from cinder.scheduler.filters import capacity_filter
from oslo_log import log as logging

from nova_holistic.cinder import connections
from nova_holistic.scheduler.pointer import has_pointer

LOG = logging.getLogger(__name__)

PLANNED_POOL = 'holistic_pool'
"""Key of the filter properties with the planned pool of a member. The driver
sets it after the claim; the empty text permits every pool."""


class HolisticPoolFilter(filters.BaseBackendFilter):
    """The planned pool of a member passes, if the request is its create. For
    all other requests, a pool passes if Cinder's CapacityFilter would accept
    it with all planned volumes in it.

    Thus it applies to creates without a pointer, and to volumes that are
    extended, retyped, migrated or created from others.
    """

    def filter_all(self, filter_obj_list: list[Any],
                   filter_properties: Mapping[str, Any]) -> Iterator[Any]:
        """The pools that pass, in their order."""
        states = list(filter_obj_list)
        pool = filter_properties.get(PLANNED_POOL)
        if pool:
            return (each for each in states if each.backend_id == pool)
        if pool is None and _is_create(filter_properties) and has_pointer(
                filter_properties.get('scheduler_hints')):
            LOG.error('A volume has a pointer, and [DEFAULT] scheduler_driver '
                      'is not HolisticScheduler: no pool passes')
            return iter(())
        return self._with_capacity(states, filter_properties)

    @staticmethod
    def _with_capacity(states: list[Any],
                       filter_properties: Mapping[str, Any]
                       ) -> Iterator[Any]:
        if filter_properties.get('size') is None:
            # A list of the pools of a volume type has no volume.
            return iter(states)
        request = filter_properties.get('request_spec') or {}
        # A request to extend a volume is for the additional capacity only, so
        # the volume itself counts like any other.
        own = (None if filter_properties.get('new_size')
               else request.get('volume_id'))
        planned = connections.get().planned.outside(states, own)
        stock = capacity_filter.CapacityFilter()
        return (each for each in states if not planned[each.backend_id]
                or stock.backend_passes(
                    with_planned(each, planned[each.backend_id]),
                    filter_properties))


def with_planned(state: Any, planned_gb: int) -> Any:
    """A copy of the state of a pool that includes planned volumes."""
    found = copy.copy(state)
    found.consume_from_volume({'size': planned_gb}, update_time=False)
    return found


def _is_create(filter_properties: Mapping[str, Any]) -> bool:
    request = filter_properties.get('request_spec') or {}
    return request.get('operation', 'create_volume') == 'create_volume'
