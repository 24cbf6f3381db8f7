# SPDX-License-Identifier: Apache-2.0
"""Volumes without a pointer prefer pools with little planned capacity."""

from collections.abc import Mapping
from typing import Any

from cinder.scheduler import weights
from oslo_config import cfg

from nova_holistic.cinder import connections
from nova_holistic.cinder.filters import PLANNED_POOL

CONF = cfg.CONF


class HolisticPoolWeigher(weights.BaseHostWeigher):
    """The weight of a pool is the negative share of its capacity that planned
    volumes will use. The planned pool of a member has the weight 0, and is the
    only pool that the filter leaves.

    A pool with unlimited capacity has the weight 0 as well.
    """

    def weight_multiplier(self) -> float:
        return CONF.holistic_cinder.pool_weight_multiplier

    def weigh_objects(self, weighed_obj_list: list[Any],
                      weight_properties: Mapping[str, Any]) -> list[float]:
        """Read the planned capacity of all pools with one request."""
        return _weights([weighed.obj for weighed in weighed_obj_list],
                        weight_properties)

    def _weigh_object(self, obj: Any,
                      weight_properties: Mapping[str, Any]) -> float:
        (weight,) = _weights([obj], weight_properties)
        return weight


def _weights(states: list[Any],
             weight_properties: Mapping[str, Any]) -> list[float]:
    if weight_properties.get(PLANNED_POOL):
        return [0.0] * len(states)
    request = weight_properties.get('request_spec') or {}
    planned = connections.get().planned.outside(
        states, request.get('volume_id'))
    return [_weight(state, planned[state.backend_id]) for state in states]


def _weight(state: Any, planned_gb: int) -> float:
    try:
        total = float(state.total_capacity_gb)
    except ValueError:
        # Unlimited or unknown.
        return 0.0
    return -planned_gb / total if total > 0 else 0.0
