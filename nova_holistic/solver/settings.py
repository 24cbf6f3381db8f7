# SPDX-License-Identifier: Apache-2.0
"""Settings with which a caller controls how the solver searches, and for how
long."""

from collections.abc import Callable
from dataclasses import dataclass
import enum
import math
import time

from nova_holistic.solver.improve.neighbourhoods import NEIGHBOURHOODS
from nova_holistic.solver.improve.settings import Improvement
from nova_holistic.solver.limits.current import Limits
from nova_holistic.solver.observer import Observer


class Strategy(enum.StrEnum):
    """A method to search for a plan.

    Every strategy accepts every problem and gives correct answers: a plan
    satisfies the hard policies, no plan is better than the bound, and a group
    is unplaceable only if no plan exists. Strategies differ in the time that
    they take and in the quality of their plans.
    """

    AUTO = 'auto'
    """The solver chooses the method by the size of the group and the cloud."""

    WHOLE = 'whole'
    """One program over all hosts."""

    DECOMPOSED = 'decomposed'
    """Decomposition by domains and types of hosts, as for large groups: a
    relaxation over aggregated hosts chooses the hosts on which members are
    placed. If this finds no plan, one program covers all hosts."""

    INSERTION = 'insertion'
    """New members are inserted one after another, without a program. Members
    that have a host stay there. The solver continues as with ``auto`` if the
    number of new members is too large or the plan is not good enough."""

    NEIGHBOURHOODS = 'neighbourhoods'
    """Greedy construction, then large-neighbourhood search, for groups of any
    size. One program covers all hosts only if the construction fails."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the search.

    :ivar strategy: a strategy or its name
    :ivar improvement: settings of the large-neighbourhood search
    :ivar solver: the name of an installed solver
    :ivar time_limit: wall-clock seconds for the whole call. If no plan is
        known by then, the first plan is constructed even if this takes longer,
        until ``first_plan_seconds`` (``limits/construct.py``) after the start.
    :ivar gap: acceptable relative gap for large groups; small groups are
        always solved to optimality
    :ivar threads: maximum number of threads of the solver; it does not affect
        the answer
    :ivar timer: returns the current time in seconds; the solver reads no other
        clock
    :ivar observer: a function that ``solve`` calls once with the question and
        the answer, in addition to the registered observers
    :ivar limits: limits of size and effort; None means the limits in effect,
        which are the defaults outside of ``limits.current.using``
    :raises ValueError: if a strategy or a neighbourhood of this name does not
        exist
    """

    strategy: Strategy = Strategy.AUTO
    improvement: Improvement = Improvement()
    solver: str = 'highs'
    time_limit: float = 10.0
    gap: float = 0.01
    threads: int = 1
    timer: Callable[[], float] = time.perf_counter
    observer: Observer | None = None
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

UNLIMITED = Settings(time_limit=math.inf)
"""The defaults of searches whose effort is bounded without a time limit."""
