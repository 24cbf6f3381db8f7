# SPDX-License-Identifier: Apache-2.0
"""Nova's view of single hosts, read without reading any other."""

from collections.abc import Collection, Iterator
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
import os_traits

import nova.conf
from nova import context as nova_context
from nova.db.main import api as main_database
from nova.db.main import models
from nova import exception
from nova import objects
from nova.scheduler.filters import utils as filter_utils

from nova_holistic.scheduler.claim.refusal import HostRefused, Refused
from nova_holistic.table.batches import batches
from nova_holistic.table.records import Place

CONF = nova.conf.CONF

ASKED_ALWAYS = frozenset([
    os_traits.COMPUTE_STATUS_DISABLED, os_traits.OWNER_NOVA])
"""Traits by which Nova finds its own providers of enabled services: of a
compute node in its own database, with its service, they say nothing new."""

ZONE, AGGREGATES, TRAITS = 'availability zone', 'aggregates', 'traits'
"""Checks of Placement's, as a refusal names them."""


class HostReader:
    """Reads single hosts; what it costs does not depend on their number."""

    def __init__(self, host_manager, servicegroup_api, placement,
                 with_numa: bool = True):
        """
        :param placement: keystoneauth Adapter for the placement service
        :param with_numa: whether the states have NUMA topologies
        """
        self._host_manager = host_manager
        self._servicegroup_api = servicegroup_api
        self._placement = placement
        self._with_numa = with_numa

    def cell_of(self, context, place: Place) -> 'objects.CellMapping':
        """The cell that the host is in.

        :raises HostRefused: it is in none
        """
        try:
            return self._host_manager._get_cell_mapping_for_host(
                context, place.host)
        except exception.HostMappingNotFound as error:
            raise HostRefused('is gone', place.host) from error

    def states(self, context, cell: 'objects.CellMapping',
               places: Collection[Place]) -> Iterator[tuple[Place, Any]]:
        """Nova's HostState of each host, or HostRefused: it is not in that
        cell, gone, disabled or down.

        Two queries, and a third for servers on hosts that do not report them,
        in one transaction.
        """
        with nova_context.target_cell(context, cell) as target:
            nodes, services, servers = self._rows(target, places)
        for place in places:
            try:
                yield place, self._state(
                    cell, place, nodes.get(place.provider),
                    services.get(place.host), servers)
            except HostRefused as refusal:
                yield place, refusal

    @main_database.pick_context_manager_reader
    def _rows(self, context, places: Collection[Place]):
        """Nodes by their UUIDs, services and servers by hosts.

        What is called here and opens a transaction joins this one.
        """
        nodes = {node.uuid: node for node
                 in objects.ComputeNodeList.get_all_by_uuids(
                     context, [place.provider for place in places])}
        services = _services(context, [place.host for place in places])
        return nodes, services, self._servers(context, [
            place.host for place in places if place.provider in nodes])

    def _state(self, cell, place, node, service, servers):
        if node is None or service is None or node.host != place.host:
            raise HostRefused('is gone', place.host)
        if cell.disabled or service.disabled:
            raise HostRefused('is disabled', place.host)
        if not self._servicegroup_api.service_is_up(service):
            raise HostRefused('is down', place.host, may_return=True)
        state = self._host_manager.host_state_cls(
            node.host, node.hypervisor_hostname, cell.uuid, compute=node)
        if not self._with_numa:
            node.numa_topology = None
        state.update(node, dict(service), self.aggregates(place.host),
                     servers[place.host])
        if state.uuid is None:
            raise HostRefused('has not reported its resources', place.host,
                              may_return=True)
        return state

    def _servers(self, context, hosts):
        """Servers by host, as Nova's HostManager tells them to filters."""
        known = self._host_manager._instance_info
        found = {host: known[host]['instances'] for host in hosts
                 if host in known and known[host].get('updated')}
        asked = [host for host in hosts if host not in found]
        if asked:
            uuids = main_database.instance_get_all_uuids_by_hosts(
                context, asked)
            found.update({host: {
                uuid: objects.Instance(context, uuid=uuid)
                for uuid in uuids.get(host, ())} for host in asked})
        return found

    def aggregates(self, host: str) -> 'list[objects.Aggregate]':
        """Nova's host aggregates that hold the host, from its own cache."""
        return self._host_manager._get_aggregates_info(host)

    def check_admits(self, state, spec: 'objects.RequestSpec', asked) -> None:
        """What Placement judges when it proposes hosts, for this one.

        :param asked: nova.scheduler.utils.ResourceRequest
        :raises HostRefused: the host is in another zone, or lacks an
            aggregate or a trait
        """
        if spec.availability_zone not in (None, '', _zone(state)):
            raise HostRefused(
                'is in another availability zone than the request names',
                state.host, ZONE)
        group = asked.get_request_group(None)
        aggregates = {aggregate.uuid for aggregate in state.aggregates}
        if not _in_aggregates(group, aggregates):
            # Aggregates that are Placement's alone, such as Neutron's
            # segments.
            aggregates |= set(self._get(
                f'/resource_providers/{state.uuid}/aggregates',
                state.host)['aggregates'])
            if not _in_aggregates(group, aggregates):
                raise HostRefused(
                    'is not in an aggregate that the request needs',
                    state.host, AGGREGATES)
        if group.forbidden_aggregates & aggregates:
            raise HostRefused(
                'is in an aggregate that the request must avoid', state.host,
                AGGREGATES)
        self._check_traits(state, spec, group)

    def _check_traits(self, state, spec, group):
        required = (spec.root_required | group.required_traits) - ASKED_ALWAYS
        forbidden = ((spec.root_forbidden | group.forbidden_traits)
                     - ASKED_ALWAYS)
        if not required and not forbidden:
            return
        traits = set(self._get(
            f'/resource_providers/{state.uuid}/traits', state.host)['traits'])
        if required - traits or forbidden & traits:
            raise HostRefused(
                'has other traits than the request needs: '
                + ', '.join(sorted((required - traits)
                                   | (forbidden & traits))),
                state.host, TRAITS)

    def _get(self, path, host):
        try:
            response = self._placement.get(
                path, microversion='1.19', raise_exc=False)
        except ks_exceptions.ClientException as error:
            raise Refused('Placement does not answer') from error
        if response.status_code == 404:
            raise HostRefused('is not known to Placement', host)
        if response.status_code != 200:
            raise Refused('Placement does not answer as it should')
        return response.json()


@main_database.pick_context_manager_reader
def _services(context, hosts) -> 'dict[str, objects.Service]':
    """Services nova-compute by host, which Nova reads one by one or all."""
    rows = [row for batch in batches(hosts) for row
            in main_database.model_query(
                context, models.Service, read_deleted='no').filter(
                    models.Service.host.in_(batch),
                    models.Service.binary == 'nova-compute')]
    return {row.host: objects.Service._from_db_object(
        context, objects.Service(), row) for row in rows}


def _zone(state) -> str:
    zones = filter_utils.aggregate_metadata_get_by_host(
        state, key='availability_zone')['availability_zone']
    return next(iter(zones), CONF.default_availability_zone)


def _in_aggregates(group, aggregates) -> bool:
    return all(aggregates.intersection(any_of) for any_of in group.aggregates)
