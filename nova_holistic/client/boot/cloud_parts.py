# SPDX-License-Identifier: Apache-2.0
"""The parts of a group whose members are in the clouds of a federation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nova_holistic.client.boot.compute import Compute, Server
from nova_holistic.client.boot.group_boot import GroupBoot
from nova_holistic.client.boot.member_boot import Report
from nova_holistic.client.boot.outcome import Outcome, Settings
from nova_holistic.client.client import Client
from nova_holistic.client.clouds import placements_with_clouds
from nova_holistic.client.groups import Groups


@dataclass(frozen=True, slots=True)
class CloudPart:
    """
    :ivar cloud: path of its name
    :ivar group_uuid: of the group in this cloud, which the pointers name
    """

    cloud: str
    group_uuid: str


def parts_of(placements: Sequence[Mapping[str, Any]]) -> Sequence[CloudPart]:
    """The parts, in the order of their clouds; none if the group is in the
    cloud of the API itself."""
    return sorted({_part(each) for each in placements if 'pointer' in each},
                  key=lambda part: (part.cloud, part.group_uuid))


def _part(placement: Mapping[str, Any]) -> CloudPart:
    return CloudPart(placement['cloud'],
                     placement['pointer']['holistic_group'])


class PartGroups(Groups):
    """The parent's API, for one part: the placements of the group in the cloud
    are those of the parent's group that are in it."""

    def __init__(self, client: Client, group_uuid: str, part: CloudPart):
        """
        :param group_uuid: of the parent's group
        """
        super().__init__(client.request)
        self._client = client
        self._group_uuid = group_uuid
        self._own = part

    def placements(self, group_id: str) -> Sequence[dict[str, Any]]:
        return [each for each in placements_with_clouds(
            self._client, self._group_uuid)
            if 'pointer' in each and _part(each) == self._own]


class CloudServers:
    """The servers of a group in all its clouds."""

    def __init__(self, parts: Mapping[CloudPart, Compute]):
        self._parts = parts
        self._computes: dict[str, Compute] = {}

    def of_group(self, group_uuid: str) -> list[Server]:
        """The servers that were created for members of the group."""
        found = []
        for part, compute in self._parts.items():
            for server in compute.of_group(part.group_uuid):
                self._computes[server['id']] = compute
                found.append(server)
        return found

    def delete(self, uuid: str) -> None:
        """Delete a server that ``of_group`` has returned."""
        self._computes[uuid].delete(uuid)


def boot_parts(client: Client, group: Mapping[str, Any],
               parts: Mapping[CloudPart, Compute], settings: Settings,
               begin: Callable[[int], Report]) -> Sequence[Outcome]:
    """Create the servers of all members, one cloud after the other.

    :param group: the parent's document, with its definition
    :param begin: see ``GroupBoot.boot``
    :raises NotBooted: a member has no key ``server``
    """
    outcomes: list[Outcome] = []
    for part, compute in parts.items():
        outcomes += GroupBoot(
            PartGroups(client, group['id'], part), compute, settings).boot(
                {**group, 'id': part.group_uuid}, begin)
    return outcomes
