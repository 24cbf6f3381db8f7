# SPDX-License-Identifier: Apache-2.0
"""Whether Nova's quota allows a project to create the servers of a group.

Nova counts only existing servers, and checks its quota again when each server
is created. This check therefore only reports early that the servers of a group
exceed the quota; it reserves nothing.
"""

import collections
from collections.abc import Mapping

from nova_holistic.api.errors import ApiError
from nova_holistic.inventory.nova.flavors import FLAVORS_VERSION
from nova_holistic.inventory.service_client import ServiceClient
from nova_holistic.model.group import Group
from nova_holistic.model.storage_pools import servers_only

VERSION = '2.1'
"""Microversion of the request; later versions do not change the quotas of
servers."""

QUOTAS = {'instances': ('maxTotalInstances', 'totalInstancesUsed'),
          'cores': ('maxTotalCores', 'totalCoresUsed'),
          'ram': ('maxTotalRAMSize', 'totalRAMUsed')}
"""Quotas of servers: names of the limit and of the usage in Nova's list of
limits."""

CLASSES = {'VCPU': 'cores', 'PCPU': 'cores', 'MEMORY_MB': 'ram'}
"""Resource classes of Placement, and the quotas that limit them."""


class NovaQuota:
    """Threads may share an instance."""

    def __init__(self, nova: ServiceClient):
        """:param nova: an adapter for a user who may read the limits of all
        projects"""
        self._nova = nova

    def must_allow(self, project_id: str, group: Group) -> None:
        """
        :param group: a group without servers
        :raises ApiError: 403, Nova would refuse some of the servers
        :raises ServiceFailed: Nova does not provide the quota
        """
        needed = self._needed(group)
        path = f'/limits?tenant_id={project_id}'
        with self._nova.reading(path):
            limits = self._nova.get(path, VERSION)['limits']['absolute']
            over = [
                f'{name}: the limit is {limits[most]}, {limits[used]} are in '
                f'use, and the group needs {needed[name]}'
                for name, (most, used) in QUOTAS.items()
                if 0 <= limits[most] < limits[used] + needed[name]]
        if over:
            raise ApiError(
                403, 'over_quota', 'the quota of the project in Nova does '
                f'not allow the servers of the group: {"; ".join(over)}')

    def _needed(self, group: Group) -> collections.Counter[str]:
        """Servers, cores and MiB of memory, by the names of the quotas."""
        members = servers_only(group).all_members()
        flavors = self._flavors() if any(
            member.requirements.flavor for member in members) else {}
        needed = collections.Counter(instances=len(members))
        for member in members:
            for kind, amount in member.requirements.resources.items():
                if kind in CLASSES:
                    needed[CLASSES[kind]] += amount
            # A flavor that does not exist is reported as a reason of the plan.
            needed.update(flavors.get(member.requirements.flavor, {}))
        return needed

    def _flavors(self) -> Mapping[str, Mapping[str, int]]:
        """The quota usage of each flavor, by name and by id; the id takes
        precedence."""
        path = '/flavors/detail'
        names, ids = {}, {}
        with self._nova.reading(path):
            for item in self._nova.pages(
                    path, 'flavors', FLAVORS_VERSION, is_public='None'):
                amounts = {'cores': item['vcpus'], 'ram': item['ram']}
                names[item['name']] = ids[item['id']] = amounts
        return names | ids
