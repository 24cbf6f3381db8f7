# SPDX-License-Identifier: Apache-2.0
"""Restore every nova-compute after the operations of a chaos run."""

from collections.abc import Callable
import datetime

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions

from tests.chaos.faults import Faults
from tests.chaos.http_attempts import answered, attempt
from tools.cloud.cloud import Cloud
from tools.cloud.waiting import wait_for, WaitTimeout

SILENCE = 60
"""Seconds without a report after which a nova-compute is restarted."""
UPTIME = '2.53'
"""In this microversion, one request asks one nova-compute for its uptime."""


class Computes:
    """The administrator's view of the hosts.

    :ivar restarts: number of restarts of a nova-compute
    """

    def __init__(self, cloud: Cloud, nova: Adapter):
        """:param nova: an adapter with the rights of an administrator"""
        self._faults = Faults(cloud)
        self._nova = nova
        self.restarts = 0

    def put_back(self) -> None:
        """Wait until no host is forced down, and every nova-compute has
        reported after this call began and answers a request.

        A nova-compute that has lost its connection to the broker is restarted.
        It may still report, because its reports and the calls use different
        connections.
        """
        since = datetime.datetime.now(datetime.timezone.utc).isoformat()
        wait_for('Nova', answered(lambda: self._nova.get('/os-services')))
        wait_for('hosts that are not forced down',
                 answered(self._release_hosts), pause=1)
        self._restart_unless_empty(lambda: self._not_reporting(since))
        self._restart_unless_empty(self._unresponsive)

    def restart(self, host: str) -> None:
        """Kill the nova-compute of a host and start it again."""
        self._faults.stop(host)
        self._faults.resume(host)
        self.restarts += 1

    def _restart_unless_empty(self, broken: Callable[[], list[str]]) -> None:
        """Wait until no host is broken; restart nova-compute on hosts that
        remain broken.

        :raises WaitTimeout: hosts are broken after the restarts
        """
        def none() -> bool:
            return broken() == []

        try:
            wait_for('every nova-compute', answered(none), SILENCE, 1)
        except WaitTimeout:
            for host in wait_for('Nova', answered(lambda: [broken()]))[0]:
                self.restart(host)
            wait_for('every nova-compute', answered(none), pause=1)

    def _release_hosts(self) -> bool:
        """Release hosts that are forced down. Returns whether none was forced
        down. Nova refuses the release of a host that has not cleaned up after
        an evacuation."""
        forced = [service for service in self._services()
                  if service['forced_down']]
        for service in forced:
            attempt(lambda: self._nova.put(
                f'/os-services/{service["id"]}', json={'forced_down': False}))
        return not forced

    def _not_reporting(self, since: str) -> list[str]:
        """Hosts whose nova-compute has not reported since that time."""
        return [service['host'] for service in self._services()
                if service['state'] != 'up'
                or (service['updated_at'] or '') <= since]

    def _unresponsive(self) -> list[str]:
        """Hosts whose nova-compute does not answer a call."""
        hypervisors = self._nova.get('/os-hypervisors').json()['hypervisors']
        return [each['hypervisor_hostname'] for each in hypervisors
                if not self._answers(each['id'])]

    def _answers(self, hypervisor: str) -> bool:
        try:
            self._nova.get(f'/os-hypervisors/{hypervisor}/uptime',
                           microversion=UPTIME)
        except ks_exceptions.HttpNotImplemented:
            # nova-compute answered that its fake hypervisor has no uptime.
            return True
        except ks_exceptions.ClientException:
            return False
        return True

    def _services(self) -> list[dict]:
        return self._nova.get('/os-services?binary=nova-compute').json()[
            'services']
