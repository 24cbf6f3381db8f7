# SPDX-License-Identifier: Apache-2.0
"""Weighs hosts by their statistics, with the multipliers of the operator."""

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
    """The weight of a host is the sum of each multiplier times its statistic,
    which is scaled to 0 … 1 over the weighed hosts.

    A host without a recent value gets the worst value of the other hosts. If
    no multiplier is configured, all hosts have the same weight, and no query
    is sent. If the statistics cannot be read, all hosts have the same weight,
    too.
    """

    # These limits keep Nova from normalizing the weights again.
    minval = 0.0
    maxval = 1.0

    def __init__(self):
        super().__init__()
        conf.register_opts(CONF)

    def weigh_objects(self, weighed_obj_list, weight_properties):
        """The weight of each host. Nova does not normalize it again."""
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
        """The recent statistics of each host, in the order of the hosts."""
        made = connections.get()
        values = made.table.statistics.since(
            made.clock() - timedelta(seconds=CONF.engine.statistics_max_age),
            hosts={name for state in states
                   for name in (state.host, state.nodename)},
            names=multipliers)
        # As in a snapshot: by node if a service has several nodes.
        return [values.get(state.host) or values.get(state.nodename) or {}
                for state in states]

    def _weigh_object(self, obj, weight_properties):
        """Hosts are weighed together: see weigh_objects."""
        return 0.0


def _shares(found: Sequence[Mapping[str, float]], name: str,
            multiplier: float) -> Sequence[float]:
    """One statistic of each host, scaled to 0 … 1 over all hosts. A host
    without a value gets the worst value."""
    known = [values[name] for values in found if name in values]
    worst = (min if multiplier >= 0 else max)(known, default=0.0)
    return normalize([values.get(name, worst) for values in found])
