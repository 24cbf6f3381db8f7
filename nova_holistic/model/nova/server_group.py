# SPDX-License-Identifier: Apache-2.0
"""A server group of Nova."""

from dataclasses import dataclass

from nova_holistic.model.frozen import FrozenMapping


@dataclass(frozen=True, slots=True)
class ServerGroup:
    """
    :ivar policy: affinity, anti-affinity, soft-affinity or soft-anti-affinity
    :ivar max_per_host: servers that anti-affinity allows on one host
    :ivar hosts: the host of each server of the group, by the server's UUID
    """

    uuid: str
    policy: str
    project_id: str = ''
    max_per_host: int = 1
    hosts: FrozenMapping[str, str] = FrozenMapping()
