# SPDX-License-Identifier: Apache-2.0
"""ServerGroupAffinityFilter and ServerGroupAntiAffinityFilter.

Servers that a server group of Nova has already count, and so do members of the
holistic group that is planned. Members of other holistic groups that have no
servers yet are not servers of the server group, and do not count.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from nova_holistic.constraints.server_limits import Limit, same_on_all
from nova_holistic.model.snapshot import Host

AFFINITY, ANTI_AFFINITY = 'affinity', 'anti-affinity'
FILTERS = {AFFINITY: 'ServerGroupAffinityFilter',
           ANTI_AFFINITY: 'ServerGroupAntiAffinityFilter'}


def class_name(uuid: str) -> str:
    """Name of the class that counts servers of a server group."""
    return f'servers of server group {uuid}'


def limit(uuid: str, hosts: Sequence[Host], most: int,
          used: Collection[str]) -> Limit:
    """The limit of a server group with anti-affinity.

    :param used: host name of each of its servers and placed members
    """
    return same_on_all(class_name(uuid), hosts, most, used)


def chains(members: Mapping[str, Sequence[str]]
           ) -> Iterator[tuple[str, str]]:
    """Pairs of member paths that must be on one host.

    :param members: by server group with affinity, paths of its members
    """
    for paths in members.values():
        yield from zip(paths, paths[1:])
