# SPDX-License-Identifier: Apache-2.0
"""The interface of neighbourhoods, and their view of a plan."""

import abc
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
import random
from typing import ClassVar

from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.solver.problem.incumbent import Incumbent
from nova_holistic.solver.problem.rows import ScopedPolicy


class PlanView:
    """The view of a plan that neighbourhoods use.

    :ivar incumbent: the problem and its best plan
    :ivar where: member path to host, of every member
    :ivar movable: paths of the members that do not stay
    """

    def __init__(self, incumbent: Incumbent):
        self.incumbent = incumbent
        self.where: Mapping[str, Host] = incumbent.where
        self.movable = tuple(m.path for m in incumbent.members
                             if m.path not in incumbent.placed)

    @cached_property
    def on_host(self) -> Mapping[str, Sequence[str]]:
        """Host name to the paths of the movable members there."""
        found: dict[str, list[str]] = {}
        for path in self.movable:
            found.setdefault(self.where[path].name, []).append(path)
        return found

    @cached_property
    def violated(self) -> Sequence[ScopedPolicy]:
        """Preferences that the plan violates."""
        return [each for each in self.incumbent.policies
                if not each.policy.hard and each.policy.check(
                    each.scope, self.where, self.incumbent.snapshot).count]

    def in_scope(self, carried: ScopedPolicy) -> list[str]:
        """Movable members that a policy or a relationship applies to."""
        movable = set(self.movable)
        return [m.path for m in carried.members if m.path in movable]

    def of_hosts(self, names: Iterable[str], number: int) -> list[str]:
        """The members of the hosts, host by host, up to about this number."""
        found: list[str] = []
        for name in names:
            if len(found) >= number:
                break
            found += self.on_host[name]
        return found


class Neighbourhood(abc.ABC):
    """A method to choose the members that one step frees. Each has one file,
    and one line in ``neighbourhoods``.

    :cvar name: name of the neighbourhood in settings
    :cvar is_for_preferences: whether its steps minimise the cost of
        preferences instead of the objective
    """

    name: ClassVar[str]
    is_for_preferences: ClassVar[bool] = False

    def suits(self, plan: PlanView) -> bool:
        """Whether the neighbourhood is applicable to the plan."""
        return True

    @abc.abstractmethod
    def free(self, plan: PlanView, number: int,
             chance: random.Random) -> Sequence[str]:
        """Paths of about this number of movable members.

        :param chance: the only source of random choices
        """


def shuffled(names: Iterable[str], chance: random.Random) -> list[str]:
    """The names in a random order."""
    found = list(names)
    chance.shuffle(found)
    return found
