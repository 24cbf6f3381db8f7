# SPDX-License-Identifier: Apache-2.0
"""No server is placed on a host where it violates a hard policy that was
satisfied before."""

from collections.abc import Callable, Sequence
import functools

from oslo_log import log as logging

import nova.conf
from nova.scheduler import filters
from nova.scheduler import utils

from nova_holistic import exceptions
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.scheduler import connections, nova_errors, server_moves
from nova_holistic.scheduler.hosts import locations
from nova_holistic.scheduler.pointer import has_pointer, Pointer
from nova_holistic.scheduler.policies import (
    exclusion, membership, servers_outside_groups)
from nova_holistic.scheduler.policies.membership import Membership

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

Objections = Callable[[Host], Sequence[str]]
Locate = Callable[[object], Host]


class HolisticGroupFilter(filters.BaseHostFilter):
    """A host passes if the server adds no violation of a hard policy of any
    group there, with the members of groups on their current hosts.

    For a member of a group, all hard policies of its group apply. For each
    server, the exclusive hosts of other groups are excluded. The filter checks
    creates and moves; a rebuild keeps its host. If no group is exclusive, a
    server without a pointer costs two queries. If the table or Nova's API
    database is unavailable, no server is placed on hosts that are known to be
    exclusive to a group: see ``exclusion``. A server with a pointer then
    passes no host, unless [holistic] failure_mode or unchecked_moves permits
    it.
    """

    RUN_ON_REBUILD = False

    def filter_all(self, filter_obj_list, spec_obj):
        """The host states that pass, in their order.

        The argument is returned unchanged for a rebuild.
        """
        if utils.request_is_rebuild(spec_obj):
            return filter_obj_list
        hints = ('scheduler_hints' in spec_obj) and spec_obj.scheduler_hints
        pointer = has_pointer(hints or {})
        states = list(filter_obj_list)
        locate = functools.cache(_located)
        try:
            with nova_errors.as_refusals():
                found = membership.find(connections.get(), spec_obj)
                evaluations = [*_exclusion(found),
                               *_policies(found, spec_obj, states, locate)]
        except exceptions.HolisticError as error:
            LOG.warning('The hosts that groups allow for instance '
                        '%(instance)s cannot be read: %(error)s',
                        {'instance': spec_obj.instance_uuid, 'error': error})
            if (pointer and CONF.holistic.failure_mode != 'yield'
                    and not server_moves.may_move_unchecked(
                        spec_obj.instance_uuid)):
                return []
            evaluations = _last_exclusion(hints, spec_obj.project_id)
        if not evaluations:
            return states
        return [state for state in states
                if self._passes(evaluations, state, locate)]

    def _passes(self, evaluations: Sequence[Objections], state,
                locate: Locate) -> bool:
        try:
            host = locate(state)
            objections = [each for evaluation in evaluations
                          for each in evaluation(host)]
        except exceptions.HolisticError as error:
            objections = [str(error)]
        for objection in objections:
            LOG.debug('Host %(host)s is not for the server: %(why)s',
                      {'host': state.host, 'why': objection})
        return not objections


def _exclusion(found: Membership | None) -> Sequence[Objections]:
    """Objections to hosts in domains that are reserved against the server."""
    return _objections(
        exclusion.closed_domains(connections.get(), found))


def _last_exclusion(hints, project_id: str) -> Sequence[Objections]:
    """Objections to hosts in domains that were reserved at the last read."""
    try:
        pointer = Pointer.from_hints(hints or {})
    except exceptions.HolisticError:
        pointer = None
    return _objections(exclusion.last_closed_domains(
        connections.get(), pointer and pointer.group, project_id))


def _objections(closed: frozenset[Domain]) -> Sequence[Objections]:
    if not closed:
        return ()
    levels = connections.get().topology.levels

    def objections(host: Host) -> Sequence[str]:
        if exclusion.is_closed(closed, host, levels):
            return ('it is reserved for an exclusive group',)
        return ()

    return (objections,)


def _policies(found: Membership | None, spec, states,
              locate: Locate) -> Sequence[Objections]:
    """Objections of the policies of the server's group."""
    if found is None:
        return ()
    candidates = []
    for state in states:
        try:
            candidates.append(locate(state))
        except exceptions.HolisticError:
            # ``_passes`` rejects this host.
            continue
    evaluation = found.complete_evaluation(connections.get())
    return (servers_outside_groups.with_outside_servers(
        evaluation, connections.get(), found, spec.instance_uuid,
        candidates).objections,)


def _located(state) -> Host:
    return locations.locate_once(
        connections.get().topology, state.host, state.aggregates)
