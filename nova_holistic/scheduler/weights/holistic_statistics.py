# SPDX-License-Identifier: Apache-2.0
"""A host weighs what others measured on it, by the operator's multipliers."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from oslo_log import log as logging

import nova.conf
from nova.scheduler import weights
from nova.weights import normalize

from nova_holistic import conf
from nova_holistic import exceptions
from nova_holistic.scheduler import connections

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


class HolisticStatisticsWeigher(weights.BaseHostWeigher):
    """The sum of multiplier times statistic, each scaled to 0 … 1 over the
    hosts that are weighed.

    A host without a recent value counts as the worst that has one. Where no
    multiplier is configured every host weighs the same, at no query.
    """

    # What weigh_objects returns is on Nova's scale already.
    minval = 0.0
    maxval = 1.0

    def __init__(self):
        super().__init__()
        conf.register_opts(CONF)

    def weigh_objects(self, weighed_obj_list, weight_properties):
        states = [weighed.obj for weighed in weighed_obj_list]
        multipliers = CONF.holistic.statistics_weights
        if not multipliers:
            return [0.0] * len(states)
        try:
            found = self._statistics(states, multipliers)
        except exceptions.HolisticError as error:
            LOG.warning('Statistics of hosts are not known: %s', error)
            return [0.0] * len(states)
        sums = [0.0] * len(states)
        for name, multiplier in multipliers.items():
            for i, share in enumerate(_shares(found, name, multiplier)):
                sums[i] += multiplier * share
        return sums

    @staticmethod
    def _statistics(states, multipliers: Mapping[str, float],
                    ) -> Sequence[Mapping[str, float]]:
        """What was measured on each of the hosts."""
        made = connections.get()
        values = made.table.statistics.since(
            made.clock() - timedelta(seconds=CONF.engine.statistics_max_age),
            hosts={name for state in states
                   for name in (state.host, state.nodename)},
            names=multipliers)
        # As in a snapshot: by the node where a service has several.
        return [values.get(state.host) or values.get(state.nodename) or {}
                for state in states]

    def _weigh_object(self, obj, weight_properties):
        """Hosts are weighed together: see weigh_objects."""
        return 0.0


def _shares(found: Sequence[Mapping[str, float]], name: str,
            multiplier: float) -> Sequence[float]:
    """One statistic of each host, from 0 to 1 over all that have it."""
    known = [values[name] for values in found if name in values]
    worst = (min if multiplier >= 0 else max)(known, default=0.0)
    return normalize([values.get(name, worst) for values in found])
