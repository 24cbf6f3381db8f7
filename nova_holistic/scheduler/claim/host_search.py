# SPDX-License-Identifier: Apache-2.0
"""Searches for a host for one member while its create waits.

No integer program is solved. Placement names the hosts with free capacity, and
``solver.construct.hosts_for_member`` ranks them, with all other members on
their current hosts.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
import functools
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions
from nova import context as nova_context
from nova.db.main import api as main_database
from nova.db.main import models
from nova import objects
from nova.scheduler import request_filter
from nova.scheduler import utils
import sqlalchemy as sa

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.objectives import load_objective
from nova_holistic.scheduler.claim import request_check
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.connections import Connections
from nova_holistic.scheduler.hosts import all_hosts, locations
from nova_holistic.scheduler.policies.membership import Membership
from nova_holistic.solver.construct.hosts_for_member import (
    hosts_for_member, Insertion)
from nova_holistic.table.batches import batches
from nova_holistic.table.records import Place

CANDIDATES_VERSION = '1.36'

_objective = functools.lru_cache(maxsize=16)(load_objective)


@dataclass(frozen=True, slots=True)
class HostSearch:
    """Searches for hosts for the members of one request.

    :ivar context: context of an administrator
    :ivar spec: the request, as Nova's request filters have changed it
    :ivar host_manager: the HostManager of the scheduler
    """

    context: Any
    spec: 'objects.RequestSpec'
    connections: Connections
    host_manager: Any

    def places(self, own: Membership, avoided: Collection[str],
               timeout: float) -> Sequence[Place]:
        """Places that can take the member according to the policies of its
        group and to Placement, the best first.

        :param avoided: names of hosts that are not returned
        :param timeout: timeout of the request to Placement in seconds
        :raises HolisticError: Placement does not answer, or a host cannot be
            located
        """
        found = {host.name: host for host in self._located(
            self._candidates(own, timeout)) if host.name not in avoided}
        if not found:
            return ()
        evaluation = all_hosts.with_all_hosts(
            own.evaluation(self.connections, self.context), self.connections,
            own.rows)
        known = {host.name: host for host in evaluation.others.values()}
        if evaluation.cloud is not None:
            known.update(evaluation.cloud.hosts)
        snapshot = Snapshot(
            evaluation.levels, tuple({**known, **found}.values()),
            evaluation.links)
        ranked = hosts_for_member(
            Insertion(evaluation.group, own.own.member, evaluation.others,
                      snapshot,
                      found.keys()), _objective(own.record.objective))
        return [_place(found[name]) for name in ranked]

    def _candidates(self, own: Membership, timeout: float
                    ) -> Mapping[str, Mapping[str, Any]]:
        """Placement's summary of each host with capacity, by the UUID of its
        root provider. Hosts that need further providers are left out.

        :raises RequestRefused: Placement does not answer as expected
        """
        spec = self.spec.obj_clone()
        spec.availability_zone = (
            spec.availability_zone
            or own.own.member.requirements.availability_zone)
        request_filter.map_az_to_placement_aggregate(self.context, spec)
        request_check.require_owner(self.context, spec)
        asked = utils.resources_from_request_spec(
            self.context, spec, self.host_manager)
        try:
            response = self.connections.placement.get(
                f'/allocation_candidates?{asked.to_querystring()}',
                microversion=CANDIDATES_VERSION, raise_exc=False,
                timeout=timeout)
        except ks_exceptions.ClientException as error:
            raise RequestRefused('Placement does not answer') from error
        if response.status_code != 200:
            raise RequestRefused('Placement returned an unexpected answer')
        found = response.json()
        alone = (request['allocations']
                 for request in found['allocation_requests'])
        return {uuid: found['provider_summaries'][uuid]
                for providers in alone if len(providers) == 1
                for uuid in providers}

    def _located(self, candidates: Mapping[str, Mapping[str, Any]]
                 ) -> Iterator[Host]:
        rows = _compute_nodes(self.context, list(candidates))
        for uuid, host, node in rows:
            yield replace(
                locations.locate_host(
                    self.connections.topology, host,
                    self.host_manager._get_aggregates_info(host)),
                node=node, uuid=uuid, servers=self._servers(host),
                traits=frozenset(candidates[uuid]['traits']),
                inventories=FrozenMapping({
                    name: Inventory(each['capacity'], used=each['used'])
                    for name, each in candidates[uuid]['resources'].items()}))

    def _servers(self, host: str) -> int:
        """The number of servers that the scheduler has cached for the host. It
        is exact enough to order hosts."""
        known = self.host_manager._instance_info.get(host) or {}
        return len(known.get('instances') or ())


def _place(host: Host) -> Place:
    return Place(host.name, host.node, host.uuid, host.location,
                 tuple(sorted(host.labels.items())))


def _compute_nodes(context, providers: Sequence[str]
                   ) -> list[tuple[str, str, str]]:
    """Provider, host and node of each compute node, in the order of the
    providers. Cells that do not answer are left out."""
    cells = [cell for cell in objects.CellMappingList.get_all(context)
             if not cell.is_cell0() and not cell.disabled]
    answers = nova_context.scatter_gather_cells(
        context, cells, nova_context.CELL_TIMEOUT, _in_cell, providers)
    order = {uuid: number for number, uuid in enumerate(providers)}
    return sorted(
        (row for answer in answers.values()
         if not nova_context.is_cell_failure_sentinel(answer)
         for row in answer), key=lambda row: order[row[0]])


@main_database.pick_context_manager_reader
def _in_cell(context, providers: Sequence[str]) -> list[tuple[str, str, str]]:
    node = models.ComputeNode
    return [tuple(row) for batch in batches(providers)
            for row in context.session.execute(
                sa.select(node.uuid, node.host, node.hypervisor_hostname)
                .where(node.uuid.in_(batch), node.deleted == 0))]
