# SPDX-License-Identifier: Apache-2.0
"""All limits as one object, and the limits of the current call to ``solve``.
"""

from collections.abc import Iterator
import contextlib
from contextvars import ContextVar
from dataclasses import dataclass

from nova_holistic.solver.limits.alternates import AlternatesLimits
from nova_holistic.solver.limits.column_generation import (
    ColumnGenerationLimits)
from nova_holistic.solver.limits.confined import ConfinedLimits
from nova_holistic.solver.limits.construct import ConstructLimits
from nova_holistic.solver.limits.decomposition import DecompositionLimits
from nova_holistic.solver.limits.diagnosis import DiagnosisLimits
from nova_holistic.solver.limits.improve import ImproveLimits
from nova_holistic.solver.limits.milp import MilpLimits
from nova_holistic.solver.limits.phases import PhasesLimits
from nova_holistic.solver.limits.problem import ProblemLimits
from nova_holistic.solver.limits.relaxations import RelaxationsLimits
from nova_holistic.solver.limits.shared_hosts import SharedHostsLimits
from nova_holistic.solver.limits.small_groups import SmallGroupsLimits
from nova_holistic.solver.limits.traffic import TrafficLimits
from nova_holistic.solver.limits.trees import TreesLimits


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of each sub-package.

    Some texts say what ``benchmarks/settings_ablation.py`` has shown with a
    quarter and with four times of a limit on some small points, as
    ``benchmarks/README.rst`` describes; "no effect" is meant for these points
    alone.

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
    :ivar small_groups: of dynamic programs of small groups
    :ivar trees: of plans whose members use trees of resource providers
    :ivar confined: of bounds and plans of sets of members in one domain
    :ivar shared_hosts: of prices of hosts that independent parts share
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
    small_groups: SmallGroupsLimits = SmallGroupsLimits()
    trees: TreesLimits = TreesLimits()
    confined: ConfinedLimits = ConfinedLimits()
    shared_hosts: SharedHostsLimits = SharedHostsLimits()


_current: ContextVar[Limits] = ContextVar(
    'limits', default=Limits())


def limits() -> Limits:
    """The limits in effect in this thread, which are the defaults outside of
    ``using``."""
    return _current.get()


def alternates() -> AlternatesLimits:
    """Limits of alternates, in effect in this thread."""
    return _current.get().alternates


def column_generation() -> ColumnGenerationLimits:
    """Limits of column generation and diving, in effect in this thread."""
    return _current.get().column_generation


def confined() -> ConfinedLimits:
    """Limits of sets of members in one domain, in effect in this thread."""
    return _current.get().confined


def construct() -> ConstructLimits:
    """Limits of constructive heuristics, in effect in this thread."""
    return _current.get().construct


def decomposition() -> DecompositionLimits:
    """Limits of relaxations of aggregated hosts, in effect in this thread."""
    return _current.get().decomposition


def diagnosis() -> DiagnosisLimits:
    """Limits of explanations, in effect in this thread."""
    return _current.get().diagnosis


def improve() -> ImproveLimits:
    """Limits of the large-neighbourhood search, in effect in this thread."""
    return _current.get().improve


def milp() -> MilpLimits:
    """Limits of integer programs of classes, in effect in this thread."""
    return _current.get().milp


def phases() -> PhasesLimits:
    """Limits of the phases of ``solve``, in effect in this thread."""
    return _current.get().phases


def problem() -> ProblemLimits:
    """Limits of the problem, in effect in this thread."""
    return _current.get().problem


def relaxations() -> RelaxationsLimits:
    """Limits of relaxations, in effect in this thread."""
    return _current.get().relaxations


def shared_hosts() -> SharedHostsLimits:
    """Limits of prices of shared hosts, in effect in this thread."""
    return _current.get().shared_hosts


def small_groups() -> SmallGroupsLimits:
    """Limits of dynamic programs of small groups, in effect in this thread."""
    return _current.get().small_groups


def traffic() -> TrafficLimits:
    """Limits of bounds and plans for traffic, in effect in this thread."""
    return _current.get().traffic


def trees() -> TreesLimits:
    """Limits of trees of resource providers, in effect in this thread."""
    return _current.get().trees


@contextlib.contextmanager
def using(chosen: Limits) -> Iterator[None]:
    """Put these limits into effect inside the block."""
    token = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(token)
