# SPDX-License-Identifier: Apache-2.0
"""Copies of a group that have the same hosts as other copies.

If no policy concerns servers of other groups, capacity alone limits how often
the placement of some copies can be repeated. So a plan of few copies shows
that many more fit, without a plan that names all members. Hosts are first
divided: a plan on a fraction of the free capacity of each host can be repeated
as many times as the capacity is divided.
"""

from collections.abc import Callable, Mapping
from collections import Counter
from dataclasses import replace

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.link_demand import limits_links
from nova_holistic.model.plan import Plan
from nova_holistic.model.policy import Policy
from nova_holistic.solver.check import check
from nova_holistic.solver.problem.deadline import OutOfTime
from nova_holistic.solver.relaxations.copies import copies
from nova_holistic.solver.relaxations.most_copies import most_copies
from nova_holistic.solver.relaxations.occupied import closed, occupied
from nova_holistic.solver.relaxations.trials import Trials
from nova_holistic.solver.trees.tree_problem import tree_problem

BindCopies = Callable[[int], Group]
"""Returns a number of copies as a group with resolved resources."""


def can_repeat(group: Group, snapshot: Snapshot) -> bool:
    """Whether only the root providers of hosts have what the members request,
    and no policy of the group concerns servers of other groups or uplinks.

    :param group: a group with resolved resources
    """
    return not limits_links(group) and not any(
        _concerns_others(rule) for scope in group.scopes()
        for rule in scope.group.rules) and (
            tree_problem(group, snapshot, ()) is None) and not any(
                provider.sharing for host in snapshot.hosts
                for provider in host.providers)


def _concerns_others(rule: Policy) -> bool:
    # Servers of other groups change what a policy that counts servers allows.
    return rule.closes is not None or rule.hard and rule.counts_servers


class RepeatedCopies:
    """A search for copies whose placements are repeated.

    :ivar total: number of copies that fit together
    """

    def __init__(self, group: Group, snapshot: Snapshot,
                 bind_copies: BindCopies, most: int):
        """
        :param most: maximum number of copies of one plan
        """
        self.total = 0
        self._group, self._bind_copies = group, bind_copies
        self._snapshot = self._after = snapshot
        self._number, self._most, self._grows = 1, most, True

    def run(self, trials: Trials, at_most: int) -> None:
        """Plan more and more copies and repeat them, until the time ends or no
        further copy fits. A later call continues the search.

        :param at_most: proved upper bound of the number of copies
        """
        while self._number and self.total < at_most and (
                trials.deadline.left()):
            self._number = min(self._number, at_most - self.total)
            try:
                found = self._repeat(trials, at_most)
            except OutOfTime:
                return
            self._grows = self._grows and found
            self._number = min(2 * self._number, self._most) if (
                self._grows) else (
                    self._number if found else self._number // 2)

    def _repeat(self, trials: Trials, at_most: int) -> bool:
        """Plan a number of copies on a fraction of the free capacity, and
        repeat them; return whether they fit at least once."""
        bound = self._bind_copies(self._number)
        times = (at_most - self.total) // self._number
        while times and trials.deadline.left():
            divided = _divided(self._after, times)
            most = most_copies(self._bind_copies(1), divided,
                               trials.deadline.check)
            if most is None:
                return False
            if most >= self._number:
                answer = trials.plan(
                    copies(self._group, self._number), divided)
                if isinstance(answer, Plan) and self._accept(
                        bound, answer.hosts()):
                    return True
            times //= 2
        return False

    def _accept(self, bound: Group, hosts: Mapping[str, str]) -> bool:
        """Repeat a placement as often as it fits; return whether it does.

        Policies of the copies are checked on the original snapshot, and their
        capacity on the snapshot that counts all earlier copies.
        """
        if closed(bound, self._snapshot, hosts) or any(
                check(bound, each, hosts)
                for each in (self._snapshot, self._after)):
            return False
        times = repetitions(bound, self._after, hosts)
        self.total += times * self._number
        self._after = occupied(bound, self._after, hosts, times)
        return True


def repetitions(group: Group, snapshot: Snapshot,
                hosts: Mapping[str, str]) -> int:
    """How often a placement fits, if only the capacity of hosts limits it; 0
    if no capacity limits it.

    :param group: a group with resolved resources
    :param hosts: member path to host name
    """
    used: Counter[tuple[str, str]] = Counter()
    for member in group.all_members():
        for name, amount in member.requirements.resources.items():
            used[hosts[member.path], name] += amount
    known = snapshot.by_name()
    return min((known[host].inventories[name].free // amount
                for (host, name), amount in used.items() if amount),
               default=0)


def _divided(snapshot: Snapshot, times: int) -> Snapshot:
    """The snapshot with a fraction of the free capacity of each host."""
    return replace(snapshot, lineage={}, hosts=tuple(
        _part(host, times) for host in snapshot.hosts))


def _part(host: Host, times: int) -> Host:
    return replace(host, inventories=FrozenMapping({
        name: _part_of(inventory, times)
        for name, inventory in host.inventories.items()}))


def _part_of(inventory: Inventory, times: int) -> Inventory:
    free = inventory.free
    return replace(inventory, used=inventory.used + free - free // times) if (
        free > 0) else inventory
