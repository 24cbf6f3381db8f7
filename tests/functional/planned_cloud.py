# SPDX-License-Identifier: Apache-2.0
"""An embedded cloud whose scheduler uses plans that tests write."""

import dataclasses
import datetime
import uuid

from nova import context as nova_context
from nova import objects
from nova.scheduler import rpcapi

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.embedded.calls.servers import IMAGE, PROJECT, USER
from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.policies import load_policy_types
from nova_holistic.service.work_queues import AlternatesQueue
from nova_holistic.table.records import (
    GroupRecord, GroupStatus, MemberRecord, MemberState, Place)
from tests.functional.fast_services import FastServices, keep_policies


class PlannedCloud(EmbeddedCloud):
    """An embedded cloud that holds any given plan."""

    def _setUp(self):
        self.useFixture(FastServices())
        super()._setUp()
        keep_policies()

    def plan(self, document, hosts, *, project_id=PROJECT,
             status=GroupStatus.PLANNED, resources=None, alternates=8,
             objective='spread'):
        """Create a group that is planned on the given hosts, and hold its
        places. Returns its UUID.

        :param hosts: host of each member by its path
        :param resources: resources of all members whose description names a
            flavor
        :param alternates: maximum number of alternates of each member
        :param objective: name of the objective of the group
        """
        group = str(uuid.uuid4())
        parsed = parse_group(document, load_policy_types())
        self.table.create_group(GroupRecord(
            uuid=group, name=document['name'], project_id=project_id,
            user_id=USER, status=status, document=document,
            objective=objective, levels=tuple(self.conf.topology.levels),
            exclusive=any(rule.hard and bool(rule.closes)
                          for scope in parsed.scopes()
                          for rule in scope.group.rules),
            created_at=datetime.datetime(2026, 1, 1),
            updated_at=datetime.datetime(2026, 1, 1)))
        members = parsed.all_members()
        self.table.write_members(group, [
            dataclasses.replace(row, alternates=row.alternates[:alternates])
            for row in (self._row(group, member, hosts, resources)
                        for member in members if member.path in hosts)])
        self.holds.put(self.table.members(group), project_id, USER)
        return group

    def _row(self, group, member, hosts, resources):
        if member.requirements.flavor is not None:
            member = _with_resources(member, resources)
        planned = hosts[member.path]
        others = [host.name for host in self.hosts if host.name != planned]
        return MemberRecord(
            id=0, group_uuid=group, member=member,
            place=self.place(planned), hold=str(uuid.uuid4()), held=True,
            state=MemberState.PLANNED,
            alternates=tuple(map(self.place, others[:8])))

    def find_alternates(self, group):
        """Find alternates for a group, as an engine does."""
        queue = AlternatesQueue(
            self.conf, self.table, self.planner, 'engine', self.clock)
        queue.do(queue.take(group))

    def clear(self):
        """Delete every server and group; no usage remains."""
        # A list without details takes half the processor time.
        servers = [server['id'] for server in self.compute.get(
            '/servers?all_tenants=1').json()['servers']]
        for server in servers:
            self.delete_server(server, wait=False)
        for server in servers:
            self.wait_until_gone(server)
        for group in self.table.list_groups():
            self.holds.drop([
                row.hold for row in self.table.members(group.uuid)])
            self.table.delete_group(group.uuid)
        assert self.used() == {}

    def place(self, name):
        """The location of a host, as a planner would store it."""
        host = next(host for host in self.hosts if host.name == name)
        return Place(name, name, self.providers()[name],
                     (host.zone, host.rack))

    def row(self, group, path):
        """The current row of a member."""
        return next(row for row in self.table.members(group)
                    if row.member.path == path)

    def request_spec(self, flavor, pointer, instance):
        """The request spec that Nova's API would create for a new server."""
        context = nova_context.RequestContext(USER, PROJECT)
        hints = {'holistic_group': [pointer['group']],
                 'holistic_member': [pointer['member']]} if pointer else {}
        flavor = objects.Flavor.get_by_flavor_id(
            nova_context.get_admin_context(), self.flavor_id(flavor))
        return objects.RequestSpec.from_components(
            context, instance, {'id': IMAGE, 'properties': {}}, flavor,
            None, None, {'scheduler_hints': hints}, None, None,
            security_groups=objects.SecurityGroupList(objects=[]))

    def select_destinations(self, spec, instances):
        """Ask the scheduler over RPC, as the conductor does."""
        return rpcapi.SchedulerAPI().select_destinations(
            nova_context.RequestContext(USER, PROJECT), spec, instances,
            return_objects=True, return_alternates=True)

    def fault_of(self, server):
        """The fault of a server that could not be created."""
        return self.wait_for_status(server, 'ERROR')['fault']['message']

    def used(self):
        """Usage of each host on which anything is allocated."""
        return {host: usage for host, usage in self.usages().items()
                if any(usage.values())}


def _with_resources(member, resources):
    return dataclasses.replace(member, requirements=dataclasses.replace(
        member.requirements, resources=FrozenMapping(resources)))
