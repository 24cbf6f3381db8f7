# SPDX-License-Identifier: Apache-2.0
"""No member's host breaks a hard policy that its group keeps without it."""

from oslo_log import log as logging

import nova.conf
from nova.scheduler import filters
from nova.scheduler import utils

from nova_holistic import exceptions
from nova_holistic.scheduler import connections
from nova_holistic.scheduler import locations
from nova_holistic.scheduler import membership
from nova_holistic.scheduler.pointer import has_pointer

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)


class HolisticGroupFilter(filters.BaseHostFilter):
    """A host passes where no hard policy of any group that the server is a
    member of gets more violations than it has without the server, with the
    other members where they really are.

    Judges creates and moves; a rebuild stays where it is. A server without a
    pointer costs no query.
    """

    RUN_ON_REBUILD = False

    def filter_all(self, filter_obj_list, spec_obj):
        hints = ('scheduler_hints' in spec_obj) and spec_obj.scheduler_hints
        if not has_pointer(hints or {}) or utils.request_is_rebuild(spec_obj):
            return filter_obj_list
        try:
            judge = membership.judge_for(connections.get(), spec_obj)
        except exceptions.HolisticError as error:
            LOG.warning('The group of instance %(instance)s cannot be read: '
                        '%(error)s', {'instance': spec_obj.instance_uuid,
                                      'error': error})
            lenient = CONF.holistic.failure_mode == 'yield'
            return filter_obj_list if lenient else []
        if judge is None:
            return filter_obj_list
        return [state for state in filter_obj_list
                if self._passes(judge, state)]

    def _passes(self, judge, state) -> bool:
        try:
            objections = judge.objections(locations.located(
                connections.get().topology, state.host, state.aggregates))
        except exceptions.HolisticError as error:
            objections = (str(error),)
        for objection in objections:
            LOG.debug('Host %(host)s is not for member %(member)s: %(why)s',
                      {'host': state.host, 'member': judge.path,
                       'why': objection})
        return not objections
