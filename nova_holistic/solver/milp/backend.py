# SPDX-License-Identifier: Apache-2.0
"""What every solver of integer programs must be able to do."""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
import enum
from typing import ClassVar

from pulp import LpProblem, LpVariable

from nova_holistic import plugins

NAMESPACE = 'nova_holistic.solvers'


class Status(enum.Enum):
    """How a run of a solver ended."""

    OPTIMAL = 'proved best, within the gap asked for'
    FEASIBLE = 'stopped with a solution'
    INFEASIBLE = 'proved to have no solution'
    NOTHING = 'stopped with neither a solution nor a proof'


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run's end; a solution is left in the variables' ``varValue``.

    :ivar bound: no solution costs less; None where nothing is proved
    """

    status: Status
    bound: float | None = None

    @property
    def solved(self) -> bool:
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)


class Backend(abc.ABC):
    """A solver: one file, one entry point in ``nova_holistic.solvers``.

    It answers equally each time it is asked the same, time allowing, leaves
    no files behind and prints nothing.
    """

    name: ClassVar[str]
    around: ClassVar[float]
    """Seconds a variable takes to be handed over and read back."""

    def __init__(self, threads: int = 1):
        """:param threads: as many as it may use, unless that could change an
        answer; HiGHS and CBC, with which it could, always use one"""
        self.threads = threads

    @abc.abstractmethod
    def solve(self, problem: LpProblem, *, seconds: float, gap: float,
              start: Mapping[LpVariable, float] | None = None) -> Outcome:
        """Minimise the problem's objective.

        :param seconds: wall-clock time it may take; nothing is begun where
            there is none
        :param gap: relative gap between value and bound that is good enough
        :param start: values of some variables in a known solution
        """


def load_backend(name: str, threads: int = 1) -> Backend:
    """The installed solver of that name.

    :raises UnknownPlugin: no solver of that name is installed
    """
    return plugins.load(NAMESPACE, name, 'solver')(threads)
