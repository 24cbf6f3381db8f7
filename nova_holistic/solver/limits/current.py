# SPDX-License-Identifier: Apache-2.0
"""All limits as one object, and those of the current call of ``solve``."""

from collections.abc import Iterator
import contextlib
from contextvars import ContextVar
from dataclasses import dataclass

from nova_holistic.solver.limits.alternates import AlternatesLimits
from nova_holistic.solver.limits.column_generation import (
    ColumnGenerationLimits)
from nova_holistic.solver.limits.construct import ConstructLimits
from nova_holistic.solver.limits.decomposition import DecompositionLimits
from nova_holistic.solver.limits.diagnosis import DiagnosisLimits
from nova_holistic.solver.limits.improve import ImproveLimits
from nova_holistic.solver.limits.milp import MilpLimits
from nova_holistic.solver.limits.phases import PhasesLimits
from nova_holistic.solver.limits.problem import ProblemLimits
from nova_holistic.solver.limits.relaxations import RelaxationsLimits
from nova_holistic.solver.limits.traffic import TrafficLimits


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of each sub-package.

    :ivar alternates: of alternates
    :ivar milp: of integer programs of classes
    :ivar improve: of the large-neighbourhood search
    :ivar decomposition: of relaxations of aggregated hosts
    :ivar column_generation: of column generation and diving
    :ivar phases: of the phases of ``solve``
    :ivar construct: of constructive heuristics
    :ivar diagnosis: of explanations
    :ivar traffic: of bounds and plans for traffic
    :ivar problem: of the problem: kinds, arrays and checks of policies
    :ivar relaxations: of relaxations of groups that have no plan
    """

    alternates: AlternatesLimits = AlternatesLimits()
    milp: MilpLimits = MilpLimits()
    improve: ImproveLimits = ImproveLimits()
    decomposition: DecompositionLimits = DecompositionLimits()
    column_generation: ColumnGenerationLimits = ColumnGenerationLimits()
    phases: PhasesLimits = PhasesLimits()
    construct: ConstructLimits = ConstructLimits()
    diagnosis: DiagnosisLimits = DiagnosisLimits()
    traffic: TrafficLimits = TrafficLimits()
    problem: ProblemLimits = ProblemLimits()
    relaxations: RelaxationsLimits = RelaxationsLimits()


_current: ContextVar[Limits] = ContextVar(
    'limits', default=Limits())


def limits() -> Limits:
    """Those in effect in this thread: the defaults outside of ``using``."""
    return _current.get()


def alternates() -> AlternatesLimits:
    return _current.get().alternates


def column_generation() -> ColumnGenerationLimits:
    return _current.get().column_generation


def construct() -> ConstructLimits:
    return _current.get().construct


def decomposition() -> DecompositionLimits:
    return _current.get().decomposition


def diagnosis() -> DiagnosisLimits:
    return _current.get().diagnosis


def improve() -> ImproveLimits:
    return _current.get().improve


def milp() -> MilpLimits:
    return _current.get().milp


def phases() -> PhasesLimits:
    return _current.get().phases


def problem() -> ProblemLimits:
    return _current.get().problem


def relaxations() -> RelaxationsLimits:
    return _current.get().relaxations


def traffic() -> TrafficLimits:
    return _current.get().traffic


@contextlib.contextmanager
def using(chosen: Limits) -> Iterator[None]:
    """These limits are in effect inside the block."""
    token = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(token)
