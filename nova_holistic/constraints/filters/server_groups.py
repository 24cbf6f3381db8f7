# SPDX-License-Identifier: Apache-2.0
"""ServerGroupAffinityFilter and ServerGroupAntiAffinityFilter.

The existing servers of a server group of Nova count, and so do the members of
the planned holistic group. Members of other holistic groups that have no
servers yet are not servers of the server group, and do not count.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections import Counter

from nova_holistic.constraints.server_limits import Limit, same_on_all
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.nova.server_group import ServerGroup

AFFINITY, ANTI_AFFINITY = 'affinity', 'anti-affinity'
FILTERS = {AFFINITY: 'ServerGroupAffinityFilter',
           ANTI_AFFINITY: 'ServerGroupAntiAffinityFilter'}


def class_name(uuid: str) -> str:
    """The class that counts servers of a server group."""
    return f'servers of server group {uuid}'


def limit(uuid: str, hosts: Sequence[Host], most: int,
          used: Collection[str]) -> Limit:
    """The limit of a server group with anti-affinity.

    :param used: host names of its servers and placed members
    """
    return same_on_all(class_name(uuid), hosts, most, used)


def colocated_pairs(members: Mapping[str, Sequence[str]]
                    ) -> Iterator[tuple[str, str]]:
    """Pairs of member paths that must be on one host.

    :param members: paths of members by server group with affinity
    """
    for paths in members.values():
        yield from zip(paths, paths[1:])


def violation_reason(group: ServerGroup, hosts: Collection[str]) -> str | None:
    """The reason why the hard policy of a server group does not allow these
    places; None if it allows them.

    :param hosts: host names of its servers and of the members that will be in
        it
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
