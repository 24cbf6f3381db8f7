# SPDX-License-Identifier: Apache-2.0
"""How ``solve`` seeks a plan, for callers that do not leave that to it."""

from dataclasses import dataclass
import enum

from nova_holistic.solver.improve.neighbourhoods import NEIGHBOURHOODS
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.limits.current import Limits


class Strategy(enum.StrEnum):
    """The way to a plan.

    Every strategy answers every question, and each answer is true: a plan
    keeps the hard policies, no plan is better than the bound, and a group is
    unplaceable only where there is no plan. Strategies differ in the time
    that they take and in how good a plan they find.
    """

    AUTO = 'auto'
    """The solver chooses, by the size of the group and of the cloud."""

    WHOLE = 'whole'
    """One program over all hosts."""

    RESTRICTED = 'restricted'
    """A restricted master over few hosts, one for each class of members at
    first. It grows until it has a plan or covers all hosts. A relaxation over
    all hosts gives the bound and the first hosts."""

    UNRELAXED = 'restricted-unrelaxed'
    """The restricted master without the relaxation."""

    DECOMPOSED = 'decomposed'
    """By domains and types of hosts, as for large groups: a relaxation over
    merged hosts chooses the hosts on which members are placed. All hosts are
    looked at if this finds no plan."""

    INSERTION = 'insertion'
    """Members join those that stay one after another, without a program, as
    where few members join. The solver continues as with ``auto`` if there are
    too many members, or if this finds no plan that is good enough."""

    NEIGHBOURHOODS = 'neighbourhoods'
    """Greedy construction, then large-neighbourhood search, for groups of any
    size. All hosts are looked at in one program only if no plan was
    constructed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller may choose about the search.

    :ivar strategy: a strategy or its name
    :ivar improvement: of the large-neighbourhood search
    :ivar limits: of size and effort; None for those in effect, which are the
        defaults outside of ``limits.current.using``
    :raises ValueError: there is no strategy or no neighbourhood of that name
    """

    strategy: Strategy = Strategy.AUTO
    improvement: Improvement = Improvement()
    limits: Limits | None = None

    def __post_init__(self) -> None:
        known = [each.value for each in Strategy]
        if self.strategy not in known:
            raise ValueError(
                f'there is no strategy {self.strategy!r}; the strategies are '
                f'{", ".join(known)}')
        object.__setattr__(self, 'strategy', Strategy(self.strategy))
        for name in self.improvement.neighbourhoods:
            if name not in NEIGHBOURHOODS:
                raise ValueError(
                    f'there is no neighbourhood {name!r}; the neighbourhoods '
                    f'are {", ".join(NEIGHBOURHOODS)}')


DEFAULT = Settings()
