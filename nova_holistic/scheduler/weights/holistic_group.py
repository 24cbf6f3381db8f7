# SPDX-License-Identifier: Apache-2.0
"""Prefers hosts on which a member violates fewer preferences of its group."""

from oslo_log import log as logging

import nova.conf
from nova.scheduler import weights

from nova_holistic import conf, exceptions
from nova_holistic.scheduler import connections, nova_errors
from nova_holistic.scheduler.hosts import all_hosts, locations
from nova_holistic.scheduler.pointer import has_pointer
from nova_holistic.scheduler.policies import adopted_servers, membership
from nova_holistic.table.records import MemberState

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


class HolisticGroupWeigher(weights.BaseHostWeigher):
    """The weight of a host is minus the weighted violations of preferences
    that the member adds there. The planned host of a member without a server
    has the highest weight.

    If the server has no pointer and no group has adopted it, all hosts have
    the same weight, and no query is sent. If the preferences cannot be read,
    all hosts have the same weight, too.
    """

    def __init__(self):
        super().__init__()
        conf.register_opts(CONF)

    def weight_multiplier(self, host_state):
        return CONF.holistic.group_weight_multiplier

    def weigh_objects(self, weighed_obj_list, weight_properties):
        """The weight of each host, before Nova normalizes the weights."""
        states = [weighed.obj for weighed in weighed_obj_list]
        try:
            with nova_errors.as_refusals():
                return self._weigh(states, weight_properties)
        except exceptions.HolisticError as error:
            LOG.warning(
                'The preferences of instance %(instance)s are not known: '
                '%(error)s', {'instance': weight_properties.instance_uuid,
                              'error': error})
            return [0.0] * len(states)

    def _weigh(self, states, spec):
        hints = ('scheduler_hints' in spec) and spec.scheduler_hints
        found = ((has_pointer(hints or {}) or adopted_servers.is_known(spec))
                 and membership.find(connections.get(), spec))
        if not found:
            return [0.0] * len(states)
        evaluation = all_hosts.with_all_hosts(
            found.evaluation(connections.get()), connections.get(), found.rows)
        topology = connections.get().topology
        own = found.instances | {spec.instance_uuid}
        found_weights = [-evaluation.cost(locations.of_state(topology, state,
                                                             own))
                         for state in states]
        if found.own.state == MemberState.PLANNED:
            best = max(found_weights) + 1.0
            found_weights = [
                best if state.host == found.own.place.host else weight
                for state, weight in zip(states, found_weights)]
        return found_weights

    def _weigh_object(self, obj, weight_properties):
        """Hosts are weighed together: see weigh_objects."""
        return 0.0
