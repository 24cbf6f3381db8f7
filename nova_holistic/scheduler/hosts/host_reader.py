# SPDX-License-Identifier: Apache-2.0
"""Reads Nova's states of single hosts without reading all other hosts."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
import os_traits

import nova.conf
from nova import exception
from nova import objects
from nova.scheduler.filters import utils as filter_utils
from nova.scheduler.host_manager import ReadOnlyDict

from nova_holistic.scheduler.claim.request_refusal import (
    HostRefused, RequestRefused)
from nova_holistic.scheduler.hosts import (
    cells, compute_records, host_servers)
from nova_holistic.table.records import Place

CONF = nova.conf.CONF

IMPLIED_TRAITS = frozenset([
    os_traits.COMPUTE_STATUS_DISABLED, os_traits.OWNER_NOVA])
"""Traits by which Nova finds its own providers of enabled services: for a
compute node in its own database, together with its service, they add no
information."""

ZONE, AGGREGATES, TRAITS = 'availability zone', 'aggregates', 'traits'
"""Names, in refusals, of checks that Placement makes for stock Nova."""


class HostReader:
    """Reads single hosts; the cost does not depend on the number of all
    hosts."""

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
        self._traits: tuple[Any, Collection[str], Collection[str]] | None = (
            None)

    def cell_of(self, context, place: Place,
                others: Iterable[str] = ()) -> 'objects.CellMapping':
        """The cell that the host is in.

        :param others: hosts that will be requested soon: one query reads the
            cells of all unknown hosts
        :raises HostRefused: no cell contains the host
        """
        if place.host not in self._host_manager.host_to_cell_uuid:
            cells.learn(context, self._host_manager, {place.host, *others})
        try:
            return self._host_manager._get_cell_mapping_for_host(
                context, place.host)
        except exception.HostMappingNotFound as error:
            raise HostRefused('no longer exists', place.host) from error

    def states(self, context, cell: 'objects.CellMapping',
               places: Collection[Place]) -> Iterator[tuple[Place, Any]]:
        """Nova's HostState of each host, or a HostRefused if the host is not
        in that cell, is disabled or down, or has not reported its resources.

        One query reads all hosts. A filter that uses the servers of hosts that
        do not report them to the scheduler sends a second query.
        """
        servers, asked = self._reported([place.host for place in places])
        found = compute_records.nodes(
            context, cell, [place.provider for place in places],
            self._with_numa)
        servers.update(host_servers.of_hosts(context, cell, asked))
        for place in places:
            try:
                yield place, self._state(
                    cell, place, found.get(place.provider), servers)
            except HostRefused as refusal:
                yield place, refusal

    def _state(self, cell, place, found, servers):
        node, service = found or (None, None)
        if node is None or node.host != place.host:
            # It may have moved to another cell.
            cells.forget(self._host_manager, place.host, cell.uuid)
            raise HostRefused('no longer exists', place.host)
        if cell.disabled or service['disabled']:
            raise HostRefused('is disabled', place.host)
        if not self._servicegroup_api.service_is_up(service):
            raise HostRefused('is down', place.host, may_return=True)
        state = self._host_manager.host_state_cls(
            node.host, node.hypervisor_hostname, cell.uuid, compute=node)
        # HostState.update() does the same under a lock, which takes longer
        # than the update itself. No other thread uses this state.
        state._update_from_compute_node(node)
        state.aggregates = self.aggregates(place.host)
        state.service = ReadOnlyDict(service)
        state.instances = servers[place.host]
        if state.uuid is None:
            raise HostRefused('has not reported its resources', place.host,
                              may_return=True)
        return state

    def _reported(self, hosts: Collection[str]
                  ) -> tuple[dict[str, Any], list[str]]:
        """Servers by host, as Nova's HostManager passes them to filters, and
        the hosts that have not reported their servers to it."""
        known = self._host_manager._instance_info
        found = {host: known[host]['instances'] for host in hosts
                 if host in known and known[host].get('updated')}
        return found, [host for host in hosts if host not in found]

    def aggregates(self, host: str) -> 'list[objects.Aggregate]':
        """Nova's host aggregates that hold the host, from its own cache."""
        return self._host_manager._get_aggregates_info(host)

    def check_admits(self, state, spec: 'objects.RequestSpec', asked) -> None:
        """Check the conditions that Placement checks when it proposes hosts.

        :param asked: nova.scheduler.utils.ResourceRequest
        :raises HostRefused: the host is in another zone, or its aggregates or
            traits do not match the request
        :raises RequestRefused: Placement does not answer
        """
        if spec.availability_zone not in (None, '', zone_of(state)):
            raise HostRefused(
                'is in another availability zone than the request names',
                state.host, ZONE)
        group = asked.get_request_group(None)
        aggregates = {aggregate.uuid for aggregate in state.aggregates}
        if not _in_aggregates(group, aggregates):
            # Some aggregates exist only in Placement, such as those of
            # Neutron's segments.
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
        required, forbidden = self._asked_traits(spec, group)
        if not required and not forbidden:
            return
        traits = self._traits_of(state.uuid, state.host)
        missing, present = required - traits, forbidden & traits
        # Placement compares the traits of the request group without a suffix
        # with those of all providers of its resources together.
        if missing & group.required_traits or group.forbidden_traits:
            for provider in _other_providers(state):
                traits = self._traits_of(provider, state.host)
                missing -= (group.required_traits & traits
                            ) - spec.root_required
                present |= group.forbidden_traits & traits
        if missing or present:
            raise HostRefused(
                'has other traits than the request needs: '
                + ', '.join(sorted(missing | present)), state.host, TRAITS)

    def _traits_of(self, provider: str, host: str) -> set[str]:
        return set(self._get(
            f'/resource_providers/{provider}/traits', host)['traits'])

    def _asked_traits(self, spec, group
                      ) -> tuple[Collection[str], Collection[str]]:
        """Required and forbidden traits, computed once for all hosts."""
        if self._traits is None or self._traits[0] is not group:
            self._traits = (
                group,
                (spec.root_required | group.required_traits) - IMPLIED_TRAITS,
                (spec.root_forbidden | group.forbidden_traits)
                - IMPLIED_TRAITS)
        return self._traits[1:]

    def _get(self, path, host):
        try:
            response = self._placement.get(
                path, microversion='1.19', raise_exc=False)
        except ks_exceptions.ClientException as error:
            raise RequestRefused('Placement does not answer') from error
        if response.status_code == 404:
            raise HostRefused('is not known to Placement', host)
        if response.status_code != 200:
            raise RequestRefused('Placement returned an unexpected answer')
        return response.json()


def zone_of(state) -> str:
    """The availability zone of a host, as in Nova."""
    zones = filter_utils.aggregate_metadata_get_by_host(
        state, key='availability_zone')['availability_zone']
    return next(iter(zones), CONF.default_availability_zone)


def _other_providers(state) -> Collection[str]:
    """Providers other than the root provider that give resources without a
    suffix, according to the allocation request of the host."""
    return {provider for request in state.allocation_candidates
            for provider in request['mappings'].get('', ())
            if provider != state.uuid}


def _in_aggregates(group, aggregates) -> bool:
    return all(aggregates.intersection(any_of) for any_of in group.aggregates)
