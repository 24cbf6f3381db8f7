# SPDX-License-Identifier: Apache-2.0
"""Decides whether servers that Nova does not list are really deleted.

If ``[nova]`` names a wrong endpoint, every server is missing there, and every
member would be released. So the service must list servers, as only Nova does.
If many servers are missing at the same time, as in the Nova of another region,
the reconciler also queries Placement: Nova deletes the allocation of a server
together with the server.
"""

from collections.abc import Collection, Mapping

from oslo_log import log as logging

from nova_holistic import exceptions
from nova_holistic.holds.client import HoldClient
from nova_holistic.reconcile.instances import Instances, InstanceView
from nova_holistic.table.queries.overview import MemberOutline

LOG = logging.getLogger(__name__)

FEW = 5
"""Maximum number of servers that may be missing in one pass, independent of
their percentage."""


class MissingServers:
    """Decides whether the missing servers of a pass are really deleted. If
    not, the pass changes no member because of its server."""

    def __init__(self, conf, instances: Instances, holds: HoldClient):
        self._conf = conf
        self._instances = instances
        self._holds = holds

    def are_credible(self, members: Mapping[str, MemberOutline],
                     views: Mapping[str, InstanceView | None],
                     number: int) -> bool:
        """Whether the servers that Nova does not know are deleted.

        If not, an error with the numbers is logged.

        :param members: claimed and built members whose servers were requested
            from Nova in this pass, by the UUID of the server
        :param views: Nova's responses by the UUID of the server
        :param number: number of these members and of those whose servers are
            known to exist in Nova
        """
        missing = [members[uuid] for uuid, view in views.items()
                   if view is None]
        if not missing:
            return True
        try:
            self._instances.check_service()
            allocated = (self._allocated(missing)
                         if self._are_many(len(missing), number) else 0)
        except exceptions.HolisticError as error:
            LOG.error(
                'Nova does not find %d of the %d servers of members. This is '
                'probably a fault, and no member is changed because of its '
                'server: %s. Check the options of [nova]',
                len(missing), number, error)
            return False
        if not self._are_many(allocated, number):
            return True
        LOG.error(
            'Nova does not find %d of the %d servers of members, but %d of '
            'them have an allocation in Placement. This looks like the Nova '
            'of another cloud or region, and no member is changed because of '
            'its server. Check the options of [nova]. If they are right, '
            'delete these allocations with "nova-manage placement audit '
            '--delete", or set [reconciler] missing_percent to 100',
            len(missing), number, allocated)
        return False

    def _are_many(self, some: int, number: int) -> bool:
        share = self._conf.reconciler.missing_percent
        return some > FEW and some * 100 > share * number

    def _allocated(self, missing: Collection[MemberOutline]) -> int:
        """The number of these servers with an allocation on the hosts of their
        members. This needs one request for each host.

        :raises HoldsError: Placement does not respond
        """
        by_provider: dict[str, set[str]] = {}
        for member in missing:
            by_provider.setdefault(member.provider, set()).add(
                member.instance_uuid)
        return sum(len(servers.intersection(self._holds.consumers(provider)))
                   for provider, servers in by_provider.items())
