# SPDX-License-Identifier: Apache-2.0
"""The cloud of the demo with its load, and its operations on servers."""

from collections.abc import Iterable, Mapping
import time

from nova_holistic.embedded.calls.servers import CloudUser
from nova_holistic.embedded.demo.outcome import Outcome
from nova_holistic.embedded.demo import scenario, usage_accounts
from nova_holistic.embedded.waiting import wait_for
from nova_holistic.model.members.member import Member
from nova_holistic.table.records import MemberRecord

LOAD_PROJECT = 'load'
SETTLED = ('ACTIVE', 'ERROR')
BOOKING_TIMEOUT = 60.0
"""Seconds to wait until Placement has no allocations of deleted servers."""


class DemoCloud:
    """An EmbeddedCloud with the flavors and the load of the scenario.

    :ivar flavors: ID by name
    """

    def __init__(self, cloud):
        self.cloud = cloud
        self.flavors = {
            flavor.name: cloud.create_flavor(
                flavor.name, flavor.resources['VCPU'],
                flavor.resources['MEMORY_MB'], flavor.resources['DISK_GB'])
            for flavor in scenario.FLAVORS + scenario.LOADS}

    def put_load(self) -> None:
        """Create one server on each host. Nova's weighers consider servers,
        but not other allocations in Placement."""
        created = [
            self.cloud.create_server(
                f'load-{host.name}', self.flavors[load], host=host.name,
                user=CloudUser(LOAD_PROJECT, is_admin=True))
            for host, load in scenario.hosts()]
        for server in created:
            self.cloud.wait_for_status(server, 'ACTIVE')

    def request_server(self, member: Member, **hint) -> str:
        """Request a server with the flavor and the zone of the document, and
        return its UUID.

        :param hint: ``hints`` or ``pointer`` of ``create_server``
        """
        requirements = member.requirements
        zone = requirements.availability_zone
        return self.cloud.create_server(
            member.path.replace('/', '-'), self.flavors[requirements.flavor],
            **hint, **({'availability_zone': zone} if zone else {}))

    def outcome(self, member: Member, server: str) -> Outcome:
        """Wait until Nova has finished the server, and return the result.

        :raises EmbeddedCloudError: the server is not finished in time
        """
        def question():
            if self.cloud.progress.is_busy(server):
                return None
            found = self.cloud.get_server(server)
            done = (found['status'] in SETTLED
                    and not found['OS-EXT-STS:task_state'])
            return Outcome.of(member.path, found) if done else None
        return wait_for(question, f'server {member.path} ACTIVE or ERROR')

    def delete(self, outcomes: Iterable[Outcome]) -> None:
        """Delete the servers, and wait until they no longer exist."""
        servers = [outcome.server for outcome in outcomes]
        for server in servers:
            self.cloud.delete_server(server, wait=False)
        for server in servers:
            self.cloud.wait_until_gone(server)

    def load_servers(self) -> list[Mapping]:
        return self.cloud.servers(LOAD_PROJECT)

    def discrepancies(self, servers: Iterable[Mapping],
                      held: Iterable[MemberRecord] = ()) -> list[str]:
        """One line for each difference between the usage in Placement and the
        usage by the servers and holds. Differences may end within the timeout.
        """
        expected = usage_accounts.of_servers(servers), usage_accounts.of_holds(
            held)
        deadline = time.monotonic() + BOOKING_TIMEOUT
        while True:
            lines = usage_accounts.differences(self.cloud.usages(), *expected)
            if not lines or time.monotonic() > deadline:
                return lines
            time.sleep(0.1)
