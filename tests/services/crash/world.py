# SPDX-License-Identifier: Apache-2.0
"""A placement table and hosts for processes that are killed."""

from dataclasses import replace
from datetime import timedelta
import json
import uuid

from nova_holistic.reconcile.instances import InstanceView
from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.services.crash import crashing_processes, invariants, operations
from tests.services.crash.parts import Parts, Site


_planned = {}
"""Rows of planned groups by their documents."""


class CrashWorld:
    """Two racks of two hosts. Each host has capacity for two small servers.

    :ivar site: the Site of the processes; scenarios replace it
    :ivar parts: Parts of this process, which is never killed
    """

    def __init__(self, site: Site):
        self.site = site
        self.parts = Parts(site)

    @property
    def table(self):
        return self.parts.table

    def close(self):
        """Delete all allocations on the hosts."""
        self.table.database.close()
        for provider in self.site.hosts.values():
            for consumer in self.parts.placement.consumers(provider):
                self.parts.placement.adapter.delete(
                    f'/allocations/{consumer}')

    def dies(self, point, operation, *arguments):
        """Carry out an operation in a process that is killed at a crash
        point."""
        code = crashing_processes.exit_code(point, self.site, operation,
                                            arguments)
        assert crashing_processes.was_killed(code), (
            f'{operation.__name__} ended with {code} and not at {point}')

    def lives(self, operation, *arguments):
        """Carry out an operation in a process that is not killed."""
        assert crashing_processes.exit_code(None, self.site, operation,
                                            arguments) == 0

    def recover(self):
        """Repair the state that the killed process has left, in a new
        process."""
        self.lives(operations.recover)

    def violations(self):
        now = Parts(self.site).instances
        return invariants.violations(
            replace(self.site, servers=[
                now.view(server) for server in now.views]),
            self.parts.placement)

    def states(self, group):
        return {m.member.path: str(m.state)
                for m in self.table.members(group)}

    def row(self, group, path='node-0'):
        return next(m for m in self.table.members(group)
                    if m.member.path == path)

    # Initial states of scenarios.

    def ask(self, document=None, boot=None):
        """A group that no engine has planned yet."""
        group = str(uuid.uuid4())
        operations.ask(self.parts, group, document, boot)
        return group

    def planned(self, document=None, boot=None):
        """A planned group. The planner plans the first group of each document,
        and the others are copies."""
        key = json.dumps(document)
        group = self.ask(document, boot)
        if key in _planned:
            members = [replace(row, group_uuid=group, hold=str(uuid.uuid4()))
                       for row in _planned[key]]
            assert self.table.write_members(group, members)
            self.parts.holds.put(members, 'blue', 'ann')
            engine = 'engine-0'
            now = self.parts.clock()
            self.table.tasks.take(group, engine, now, now)
            self.table.tasks.finish(group, engine, {
                'status': GroupStatus.PLANNED, 'levels': ('rack', 'host'),
                'lease_expires_at': now + timedelta(
                    seconds=operations.LEASE)})
        else:
            operations.perform(self.parts, group)
            operations.find_alternates(self.parts, group)
            _planned[key] = self.table.members(group)
        assert set(self.states(group).values()) == {'planned'}
        return group

    def asked(self, group, task: Task, **pending):
        """Give a planned group a task."""
        record = self.table.get_group(group)
        assert self.table.tasks.request(
            group, NewTask(task, pending, [record.status]), self.parts.clock())
        return group

    def lose(self, group, path='node-0'):
        """Make a member lost."""
        row = self.row(group, path)
        assert self.table.change_state(
            row.id, [MemberState.PLANNED], MemberState.LOST,
            self.parts.clock(), held=False)
        self.parts.holds.drop([row.hold])

    def sees(self, *servers, **changes):
        """Set the servers that Nova reports."""
        self.site = replace(self.site, servers=servers, **changes)

    def failed(self, server):
        """Make Nova report that the create of a server has failed."""
        self.sees(self.error(server))

    @staticmethod
    def error(server):
        """The state that Nova reports for a server whose scheduler was
        killed."""
        return InstanceView(server, None, 'ERROR', fault=True)

    def claimed(self, group, path='node-0', launched=True):
        """Claim a member for a server that is running there."""
        server = str(uuid.uuid4())
        operations.claim(self.parts, group, path, server)
        if launched:
            self.sees(InstanceView(
                server, self.row(group, path).place.host, 'ACTIVE',
                launched=True))
        return server

    def existing(self, host):
        """A server that was created without a group."""
        server = str(uuid.uuid4())
        self.parts.placement.allocate(
            self.site.hosts[host], operations.SMALL, server, 'blue')
        self.sees(InstanceView(server, host, 'ACTIVE', launched=True))
        return server

    def built(self, group, path='node-0'):
        server = self.claimed(group, path)
        row = self.row(group, path)
        assert self.table.change_state(
            row.id, [MemberState.CLAIMED], MemberState.BUILT,
            self.parts.clock(), held=False)
        return server

    def other_server(self, provider, vcpus=1):
        """Allocate capacity for another project's server."""
        self.parts.placement.allocate(
            provider, {'VCPU': vcpus, 'MEMORY_MB': 512})
