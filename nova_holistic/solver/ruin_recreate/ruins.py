# SPDX-License-Identifier: Apache-2.0
"""Choices of members that leave their hosts in one step of ruin and recreate.
"""

from collections.abc import Sequence
import random

import numpy as np

from nova_holistic.model.cloud.domain import HOST
from nova_holistic.solver.construct.components import components
from nova_holistic.solver.limits.current import improve as limits
from nova_holistic.solver.problem.case import Case, Place
from nova_holistic.solver.problem.rows import ScopedPolicy


class Ruins:
    """Draws members at random: of some hosts, of one domain, of classes that
    policies connect, of one policy, or of the whole group.

    :ivar sizes: [class]: size of a member, relative to the largest host
    :ivar few_members: policies that refer to domains and apply to few members
    :ivar hosts: [class]: number of possible hosts
    """

    def __init__(self, case: Case, chance: random.Random, most: int):
        """
        :param most: maximum number of members to choose if no policy is given;
            some draws choose more
        """
        self._case, self._chance, self._most = case, chance, most
        self._components = components(case)
        levels = [level for level in case.snapshot.levels if level != HOST]
        self._domain = [case.table.division(level).of_host
                        for level in levels[-1:]]
        self._class_of = case.class_of
        self.sizes = [case.table.size(each.demands) for each in case.classes]
        self.few_members = [
            each for each in case.policies if each.policy.levels
            and 1 < len(each.scope.members) <= 2 * limits().ruined_members]
        self.hosts = (case.room > 0).sum(axis=1).tolist()

    def draw(self, places: Sequence[Place],
             policy: ScopedPolicy | None) -> list[Place]:
        """Choose the members that leave their hosts.

        :param places: the place of each member
        :param policy: a policy whose members leave their hosts; None for
            another choice
        """
        if not places:
            return []
        # The logarithm of the number is uniformly distributed, so that small
        # numbers are more likely.
        most = self._most if policy is None else limits().ruined_members
        number = round(most ** self._chance.random())
        draws = [self._of_hosts, self._of_domain, self._of_component,
                 self._of_all_members]
        if policy is not None:
            return self._of_policy(places, policy, number)
        return self._chance.choice(draws)(places, number)

    def outside(self, carried: ScopedPolicy) -> np.ndarray | None:
        """[host]: 0 in a random domain of a level to which the policy refers,
        1 outside this domain. None means that no domain is preferred: always
        if the policy refers to no level, and at random otherwise."""
        levels = carried.policy.levels
        if not levels or self._chance.random() < 0.3:
            return None
        division = self._case.table.division(
            self._chance.choice(sorted(levels)))
        host = self._chance.randrange(len(division.of_host))
        return (division.of_host != division.of_host[host]).astype(float)

    def _of_all_members(self, places: Sequence[Place],
                        number: int) -> list[Place]:
        return self._chance.sample(places, min(number, len(places)))

    def _of_hosts(self, places: Sequence[Place], number: int) -> list[Place]:
        """All members of some hosts. Hosts with few members are more likely,
        because they are the easiest to empty."""
        on: dict[int, list[Place]] = {}
        for each in places:
            on.setdefault(each[1], []).append(each)
        rank = {host: len(members) ** self._chance.random()
                * self._chance.random() for host, members in on.items()}
        found: list[Place] = []
        for host in sorted(on, key=rank.__getitem__):
            found += on[host]
            if len(found) >= number:
                break
        return found

    def _of_domain(self, places: Sequence[Place], number: int) -> list[Place]:
        """Members of one domain of the finest level above hosts."""
        of_host = self._domain[0] if self._domain else None
        host = self._chance.choice(places)[1]
        if of_host is None or of_host[host] < 0:
            return self._of_hosts(places, number)
        inside = [each for each in places if of_host[each[1]] == of_host[host]]
        return self._chance.sample(inside, min(number, len(inside)))

    def _of_component(self, places: Sequence[Place],
                      number: int) -> list[Place]:
        """Members of a random class and of the classes that policies connect
        with it."""
        component = self._components[self._chance.choice(places)[0]]
        inside = [each for each in places if each[0] in component]
        if len(inside) > 2 * limits().ruined_members:
            return self._chance.sample(inside, min(number, len(inside)))
        return inside

    def _of_policy(self, places: Sequence[Place], policy: ScopedPolicy,
                   number: int) -> list[Place]:
        """Members of the classes of a policy, and sometimes other members."""
        classes = {self._class_of[m.path] for m in policy.scope.members
                   if m.path in self._class_of}
        inside = [each for each in places if each[0] in classes]
        inside = self._chance.sample(inside, min(
            len(inside), 2 * limits().ruined_members))
        if self._chance.random() < 0.5:
            rest = [each for each in places if each[0] not in classes]
            inside += self._chance.sample(rest, min(number, len(rest)))
        return inside
