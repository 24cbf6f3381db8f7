# SPDX-License-Identifier: Apache-2.0
"""Hosts whose resource providers can serve a member in addition to the plan.

The rows of provider trees are necessary, but not always sufficient. Therefore,
the check of plans searches for providers on each host that becomes an
alternate.
"""

from collections.abc import Mapping, Sequence
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.members.member import Member
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.tree_check import can_serve, tree_classes


@dataclass(slots=True)
class ServedHosts:
    """The providers of hosts, with the members that the plan adds there.

    :ivar hosts: the hosts by index, with all of their providers
    :ivar members: path to each member that the snapshot does not count
    :ivar own: path of each of these members to the index of its planned host
    """

    hosts: Sequence[Host]
    members: Mapping[str, Member]
    own: Mapping[str, int]
    in_time: InTime
    _on_host: Mapping[int, Sequence[Member]]
    _shared: Counter[tuple[str, str]]
    _served: dict[tuple[int, int], bool] = field(default_factory=dict)
    _possible: dict[int, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, members: Mapping[str, Member], hosts: Sequence[Host],
           own: Mapping[str, int], in_time: InTime) -> 'ServedHosts':
        """Prepare the check for a group, with the fields of the class."""
        on_host: dict[int, list[Member]] = defaultdict(list)
        shared: Counter[tuple[str, str]] = Counter()
        for path, member in members.items():
            on_host[own[path]].append(member)
            shared.update(_of_shared(member, hosts[own[path]]))
        return cls(hosts, members, own, in_time, on_host, shared)

    def possible(self, path: str, hosts: np.ndarray) -> np.ndarray:
        """Which of these hosts are not known to be unable to serve the
        member.

        :param hosts: indexes of hosts
        """
        known = self._possible.get(id(self.members[path].requirements))
        return (np.ones(len(hosts), dtype=bool) if known is None
                else known[hosts])

    def serves(self, path: str, host: int) -> bool:
        """Whether the providers of the host can serve the member together with
        all members that are planned there. Providers that hosts share also
        serve the members that are planned on the other hosts.

        :param host: index of a host on which the member is not planned
        """
        member = self.members[path]
        key = id(member.requirements)
        if (key, host) not in self._served:
            self.in_time()
            found = self._served[key, host] = self._in_tree(member, host)
            if not found:
                self._possible.setdefault(key, np.ones(
                    len(self.hosts), dtype=bool))[host] = False
        return self._served[key, host] and self._in_shares(member, host)

    def _in_tree(self, member: Member, number: int) -> bool:
        host = self.hosts[number]
        together = [*self._on_host.get(number, ()), member]
        classes = tree_classes((each, host) for each in together)
        return host.name not in classes or can_serve(
            host, together, classes[host.name])

    def _in_shares(self, member: Member, number: int) -> bool:
        """Whether the sharing providers of the host have room for the member
        instead of at its planned host, and for all other members."""
        needed = _of_shared(member, self.hosts[number])
        if not needed:
            return True
        leaves = _of_shared(member, self.hosts[self.own[member.path]])
        free = {(each.uuid, name): inventory.free
                for each in self.hosts[number].providers if each.sharing
                for name, inventory in each.inventories.items()}
        return all(self._shared[key] - leaves[key] + amount <= free[key]
                   for key, amount in needed.items())


def _of_shared(member: Member, host: Host) -> Counter[tuple[str, str]]:
    """Amounts that the member allocates from the sharing providers of a host,
    by UUID of the provider and resource class."""
    found: Counter[tuple[str, str]] = Counter()
    for provider in host.providers:
        for name in provider.inventories if provider.sharing else ():
            amount = member.requirements.resources.get(name, 0) + sum(
                each.resources.get(name, 0)
                for each in member.requirements.request_groups)
            if amount:
                found[provider.uuid, name] = amount
    return found
