# SPDX-License-Identifier: Apache-2.0
"""The cloud with its load, and the function that creates servers."""

from collections.abc import Iterable, Mapping
import time

from nova_holistic.embedded.demo.outcome import Outcome
from nova_holistic.embedded.demo import scenario, usage_accounts
from nova_holistic.embedded.waiting import wait_for
from nova_holistic.model.members.member import Member
from nova_holistic.table.records import MemberRecord

LOAD_PROJECT = 'load'
SETTLED = ('ACTIVE', 'ERROR')
BOOKING_TIMEOUT = 60.0
"""Seconds in which Placement learns that a deleted server is gone."""


class DemoCloud:
    """An EmbeddedCloud that bears the scenario's load.

    :ivar flavors: UUID by name
    """

    def __init__(self, cloud):
        self.cloud = cloud
        self.flavors = {
            flavor.name: cloud.create_flavor(
                flavor.name, flavor.resources['VCPU'],
                flavor.resources['MEMORY_MB'], flavor.resources['DISK_GB'])
            for flavor in scenario.FLAVORS + scenario.LOADS}

    def put_load(self) -> None:
        """One server on each host: Nova's weighers see servers, but not other
        allocations in Placement."""
        created = [
            self.cloud.create_server(
                f'load-{host.name}', self.flavors[load], host=host.name,
                project_id=LOAD_PROJECT, as_admin=True)
            for host, load in scenario.hosts()]
        for server in created:
            self.cloud.wait_for_status(server, 'ACTIVE')

    def ask(self, member: Member, **hint) -> str:
        """Ask for a server: flavor and zone as the document says, and either
        a server group or a pointer; its UUID."""
        requirements = member.requirements
        return self.cloud.create_server(
            member.path.replace('/', '-'), self.flavors[requirements.flavor],
            availability_zone=requirements.availability_zone, **hint)

    def outcome(self, member: Member, server: str) -> Outcome:
        """The result of a create, once Nova has finished with the server."""
        def question():
            if self.cloud.progress.is_busy(server):
                return None
            found = self.cloud.get_server(server)
            done = (found['status'] in SETTLED
                    and not found['OS-EXT-STS:task_state'])
            return Outcome.of(member.path, found) if done else None
        return wait_for(question, f'server {member.path} ACTIVE or ERROR')

    def delete(self, outcomes: Iterable[Outcome]) -> None:
        servers = [outcome.server for outcome in outcomes]
        for server in servers:
            self.cloud.delete_server(server, wait=False)
        for server in servers:
            self.cloud.wait_until_gone(server)

    def load_servers(self) -> list[Mapping]:
        return self.cloud.servers(LOAD_PROJECT)

    def discrepancies(self, servers: Iterable[Mapping],
                      held: Iterable[MemberRecord] = ()) -> list[str]:
        """Where Placement's usages are not those of the servers and holds."""
        expected = usage_accounts.of_servers(servers), usage_accounts.of_holds(
            held)
        deadline = time.monotonic() + BOOKING_TIMEOUT
        while True:
            lines = usage_accounts.differences(self.cloud.usages(), *expected)
            if not lines or time.monotonic() > deadline:
                return lines
            time.sleep(0.1)
