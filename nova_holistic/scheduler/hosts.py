# SPDX-License-Identifier: Apache-2.0
"""Nova's view of one host, read without reading any other."""

import os_traits

import nova.conf
from nova import context as nova_context
from nova import exception
from nova import objects
from nova.scheduler.filters import utils as filter_utils

from nova_holistic.scheduler.refusal import Refused
from nova_holistic.table.records import Place

CONF = nova.conf.CONF

ASKED_ALWAYS = frozenset([
    os_traits.COMPUTE_STATUS_DISABLED, os_traits.OWNER_NOVA])
"""Traits by which Nova finds its own providers of enabled services: of a
compute node in its own database, with its service, they say nothing new."""


class HostReader:
    """Reads single hosts; what it costs does not depend on their number."""

    def __init__(self, host_manager, servicegroup_api, placement):
        """:param placement: keystoneauth Adapter for the placement service"""
        self._host_manager = host_manager
        self._servicegroup_api = servicegroup_api
        self._placement = placement

    def state(self, context, place: Place):
        """Nova's HostState of a host that can take a server now.

        :raises Refused: it is gone, disabled or down
        """
        cell, node, service = self._records(context, place)
        if cell.disabled or service.disabled:
            raise Refused('its planned host is disabled')
        if not self._servicegroup_api.service_is_up(service):
            raise Refused('its planned host is down')
        states = list(self._host_manager._get_host_states(
            context, {cell.uuid: [node]}, {service.host: service}))
        if not states or states[0].uuid is None:
            raise Refused('its planned host has not reported its resources')
        return states[0]

    def _records(self, context, place):
        try:
            cell = self._host_manager._get_cell_mapping_for_host(
                context, place.host)
            with nova_context.target_cell(context, cell) as cell_context:
                node = objects.ComputeNode.get_by_uuid(
                    cell_context, place.provider)
                service = objects.Service.get_by_compute_host(
                    cell_context, place.host)
        except exception.NotFound as error:
            raise Refused('its planned host is gone') from error
        if node.host != place.host:
            raise Refused('its planned host is gone')
        return cell, node, service

    def aggregates(self, host: str) -> 'list[objects.Aggregate]':
        """Nova's host aggregates that hold the host, from its own cache."""
        return self._host_manager._get_aggregates_info(host)

    def check_admits(self, state, spec: 'objects.RequestSpec', asked) -> None:
        """What Placement judges when it proposes hosts, for this one.

        :param asked: nova.scheduler.utils.ResourceRequest
        :raises Refused: the host is in another zone, or lacks an aggregate
            or a trait
        """
        if spec.availability_zone not in (None, '', _zone(state)):
            raise Refused(
                'its planned host is in another availability zone than the '
                'request names')
        group = asked.get_request_group(None)
        aggregates = {aggregate.uuid for aggregate in state.aggregates}
        if not _in_aggregates(group, aggregates):
            # Aggregates that are Placement's alone, such as Neutron's
            # segments.
            aggregates |= set(self._get(
                f'/resource_providers/{state.uuid}/aggregates')['aggregates'])
            if not _in_aggregates(group, aggregates):
                raise Refused(
                    'its planned host is not in an aggregate that the request '
                    'needs')
        if group.forbidden_aggregates & aggregates:
            raise Refused(
                'its planned host is in an aggregate that the request must '
                'avoid')
        self._check_traits(state, spec, group)

    def _check_traits(self, state, spec, group):
        required = (spec.root_required | group.required_traits) - ASKED_ALWAYS
        forbidden = ((spec.root_forbidden | group.forbidden_traits)
                     - ASKED_ALWAYS)
        if not required and not forbidden:
            return
        traits = set(self._get(
            f'/resource_providers/{state.uuid}/traits')['traits'])
        if required - traits or forbidden & traits:
            raise Refused(
                'its planned host has other traits than the request needs: '
                + ', '.join(sorted((required - traits)
                                   | (forbidden & traits))))

    def _get(self, path):
        response = self._placement.get(
            path, microversion='1.19', raise_exc=False)
        if response.status_code != 200:
            raise Refused('its planned host is not known to Placement')
        return response.json()


def _zone(state) -> str:
    zones = filter_utils.aggregate_metadata_get_by_host(
        state, key='availability_zone')['availability_zone']
    return next(iter(zones), CONF.default_availability_zone)


def _in_aggregates(group, aggregates) -> bool:
    return all(aggregates.intersection(any_of) for any_of in group.aggregates)
