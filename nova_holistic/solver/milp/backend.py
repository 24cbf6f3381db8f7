# SPDX-License-Identifier: Apache-2.0
"""The interface of solvers of integer programs."""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
import enum
from typing import ClassVar

from pulp import LpProblem, LpVariable

from nova_holistic import plugins

NAMESPACE = 'nova_holistic.solvers'


class Status(enum.Enum):
    """The result of a run of a solver."""

    OPTIMAL = 'proved optimal within the required gap'
    FEASIBLE = 'stopped with a solution'
    INFEASIBLE = 'proved to have no solution'
    NOTHING = 'stopped with neither a solution nor a proof'


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a run; the solution is in the variables' ``varValue``.

    :ivar bound: lower bound of the cost of all solutions; None if nothing is
        proved
    """

    status: Status
    bound: float | None = None

    @property
    def solved(self) -> bool:
        """Whether the variables have the values of a solution."""
        return self.status in (Status.OPTIMAL, Status.FEASIBLE)


class Backend(abc.ABC):
    """A solver, which is installed as an entry point of the namespace
    ``nova_holistic.solvers``.

    A solver is deterministic unless the time limit interrupts it. It leaves no
    files behind and prints nothing.
    """

    name: ClassVar[str]
    overhead_per_variable: ClassVar[float]
    """Seconds per variable to pass the program and to read the solution."""

    def __init__(self, threads: int = 1):
        """
        :param threads: maximum number of threads. A solver uses several
            threads only if they cannot change the result. HiGHS and CBC always
            use one thread, because several threads could change the result
        """
        self.threads = threads

    @abc.abstractmethod
    def solve(self, problem: LpProblem, *, seconds: float, gap: float,
              start: Mapping[LpVariable, float] | None = None) -> Outcome:
        """Minimise the problem's objective, and assign the values of the
        solution to the variables.

        :param seconds: wall-clock limit; the run does not start if it is 0
        :param gap: relative gap between value and bound at which to stop
        :param start: values of some variables in a known solution
        """

    def solve_again(self, problem: LpProblem, *, seconds: float) -> Outcome:
        """Solve a program that was found to be infeasible by another method,
        because rounding errors of the first method may be the cause.

        A solver without another method confirms the first answer.
        """
        return Outcome(Status.INFEASIBLE)


def load_backend(name: str, threads: int = 1) -> Backend:
    """The installed solver of this name.

    :raises UnknownPlugin: if no solver of this name is installed
    """
    return plugins.load(NAMESPACE, name, 'solver')(threads)
