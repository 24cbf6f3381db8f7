# SPDX-License-Identifier: Apache-2.0
"""Every nova-compute works again after a chaos run."""

from collections.abc import Callable
import datetime

from keystoneauth1.adapter import Adapter
from keystoneauth1 import exceptions as ks_exceptions

from tests.chaos.faults import Faults
from tests.chaos.http_attempts import answered, attempt
from tools.cloud.cloud import Cloud
from tools.cloud.waiting import wait_for, WaitTimeout

SILENCE = 60
"""Seconds after which a nova-compute that has not reported is restarted."""
UPTIME = '2.53'
"""Microversion in which one request asks one nova-compute for its uptime."""


class Computes:
    """The administrator's view of the hosts.

    :ivar restarts: how often a nova-compute was restarted
    """

    def __init__(self, cloud: Cloud, nova: Adapter):
        """:param nova: with the rights of an administrator"""
        self._faults = Faults(cloud)
        self._nova = nova
        self.restarts = 0

    def put_back(self) -> None:
        """No host is forced down, and every nova-compute has reported since
        now and answers a call.

        A nova-compute that has lost its broker is restarted. It may still
        report: its reports and the calls that it answers use different
        connections.
        """
        since = datetime.datetime.now(datetime.timezone.utc).isoformat()
        wait_for('Nova', answered(lambda: self._nova.get('/os-services')))
        wait_for('hosts that are not forced down',
                 answered(self._release_hosts), pause=1)
        self._restart_unless_empty(lambda: self._silent(since))
        self._restart_unless_empty(self._deaf)

    def restart(self, host: str) -> None:
        """Kill the nova-compute of a host and start it again."""
        self._faults.stop(host)
        self._faults.resume(host)
        self.restarts += 1

    def _restart_unless_empty(self, broken: Callable[[], list[str]]) -> None:
        """Returns when no host is broken; those that stay so are restarted.

        :raises WaitTimeout: that does not help
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
        """Whether no host is forced down any more. Nova refuses this for a
        host that has not yet cleaned up after an evacuation."""
        forced = [service for service in self._services()
                  if service['forced_down']]
        for service in forced:
            attempt(lambda: self._nova.put(
                f'/os-services/{service["id"]}', json={'forced_down': False}))
        return not forced

    def _silent(self, since: str) -> list[str]:
        """Hosts whose nova-compute has not reported since then."""
        return [service['host'] for service in self._services()
                if service['state'] != 'up'
                or (service['updated_at'] or '') <= since]

    def _deaf(self) -> list[str]:
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
