# SPDX-License-Identifier: Apache-2.0
"""Create the servers of all planned members of a group."""

from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from typing import Any

from nova_holistic.client.boot.compute import Compute
from nova_holistic.client.boot.member_boot import MemberBoot, Report
from nova_holistic.client.boot.member_servers import (
    MemberServers, read_members, RELEASED)
from nova_holistic.client.boot.outcome import Outcome, Settings
from nova_holistic.client.groups import Groups
from nova_holistic.documents.servers.create_request import member_description
from nova_holistic.documents.servers.server import KEY
from nova_holistic import exceptions


class NotBooted(exceptions.HolisticError):
    """Members of the group do not describe their servers."""


class GroupBoot:
    """Creates the servers of one group.

    The servers that exist already are recognised, so that a boot continues
    after an interruption.
    """

    def __init__(self, groups: Groups, compute: Compute,
                 settings: Settings | None = None):
        self._groups = groups
        self._compute = compute
        self._settings = settings or Settings()

    def boot(self, group: Mapping[str, Any],
             begin: Callable[[int], Report] | None = None
             ) -> Sequence[Outcome]:
        """
        :param group: the API's document, with its definition; the group is
            planned
        :param begin: called with the number of servers; gives the function
            that is called with each member and its new state
        :raises NotBooted: a member has no key ``server``; no server was
            created
        """
        servers = read_members(self._groups, self._compute, group['id'])
        descriptions = _descriptions(group['definition'], servers)
        member_boot = MemberBoot(
            self._groups, self._compute, group, self._settings,
            begin(len(descriptions)) if begin else _ignore)
        with futures.ThreadPoolExecutor(self._settings.parallel) as pool:
            begun = [pool.submit(member_boot.boot, member, description,
                                 servers[member])
                     for member, description in descriptions.items()]
            try:
                outcomes = [boot.result() for boot in begun]
            except BaseException:
                member_boot.stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        self._delete_surplus(group['id'])
        return outcomes

    def _delete_surplus(self, group_uuid: str) -> None:
        """Delete failed servers of members that have another server.

        Such a server exists if a request of an earlier command reached Nova
        after this command had created the server.
        """
        for servers in read_members(self._groups, self._compute,
                                    group_uuid).values():
            for uuid in servers.surplus:
                self._compute.delete(uuid)


def _ignore(member: str, state: str) -> None:
    """The caller does not show the progress."""


def _descriptions(definition: Mapping[str, Any],
                  members: Mapping[str, MemberServers]
                  ) -> Mapping[str, Mapping[str, Any]]:
    """The descriptions of the members that have a place, or a server."""
    descriptions, missing = {}, []
    for member, servers in members.items():
        description = member_description(definition, member)
        if servers.state == RELEASED or description is None:
            continue
        if KEY in description:
            descriptions[member] = description
        elif servers.server is None:
            missing.append(member)
    if missing:
        raise NotBooted(
            f'no key {KEY} in the descriptions of these members: '
            f'{", ".join(missing[:10])}'
            f'{", ..." if len(missing) > 10 else ""}')
    return descriptions
