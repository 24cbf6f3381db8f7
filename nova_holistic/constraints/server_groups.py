# SPDX-License-Identifier: Apache-2.0
"""ServerGroupAffinityFilter and ServerGroupAntiAffinityFilter.

Servers that a server group of Nova has already count, and so do members of the
holistic group that is planned. Members of other holistic groups that have no
servers yet are not servers of the server group, and do not count.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from nova_holistic.constraints.counts import Limit, same_on_all
from nova_holistic.model.server_group import ServerGroup
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


def objection(group: ServerGroup, hosts: Collection[str]) -> str | None:
    """Why the hard policy of a server group does not allow these places; None
    if it does.

    :param hosts: host name of each of its servers and of each member that
        will be in it
    """
    if group.policy == AFFINITY and len(set(hosts)) > 1:
        return (f'its servers and the members of this path are on '
                f'{len(set(hosts))} hosts, and its policy {AFFINITY} allows '
                f'one')
    if group.policy == ANTI_AFFINITY:
        most = max(Counter(hosts).values(), default=0)
        if most > group.max_per_host:
            return (f'{most} of its servers and the members of this path are '
                    f'on one host, and its policy {ANTI_AFFINITY} allows '
                    f'{group.max_per_host}')
    return None
