# SPDX-License-Identifier: Apache-2.0
"""All limits as one object, and the limits of the current call to ``solve``.
"""

from collections.abc import Callable, Iterator
import contextlib
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

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
    """The limits of each sub-package. Each number is a maximum unless its text
    says otherwise.

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


Part = TypeVar('Part')

_current: ContextVar[Limits] = ContextVar('limits', default=Limits())


def limits() -> Limits:
    """The limits in effect in this thread, which are the defaults outside of
    ``using``."""
    return _current.get()


def _in_effect(kind: type[Part], name: str) -> Callable[[], Part]:
    """A function that returns the limits of one sub-package, in effect in this
    thread."""
    return lambda: getattr(_current.get(), name)


alternates = _in_effect(AlternatesLimits, 'alternates')
column_generation = _in_effect(ColumnGenerationLimits, 'column_generation')
confined = _in_effect(ConfinedLimits, 'confined')
construct = _in_effect(ConstructLimits, 'construct')
decomposition = _in_effect(DecompositionLimits, 'decomposition')
diagnosis = _in_effect(DiagnosisLimits, 'diagnosis')
improve = _in_effect(ImproveLimits, 'improve')
milp = _in_effect(MilpLimits, 'milp')
phases = _in_effect(PhasesLimits, 'phases')
problem = _in_effect(ProblemLimits, 'problem')
relaxations = _in_effect(RelaxationsLimits, 'relaxations')
shared_hosts = _in_effect(SharedHostsLimits, 'shared_hosts')
small_groups = _in_effect(SmallGroupsLimits, 'small_groups')
traffic = _in_effect(TrafficLimits, 'traffic')
trees = _in_effect(TreesLimits, 'trees')


@contextlib.contextmanager
def using(chosen: Limits) -> Iterator[None]:
    """Put these limits into effect inside the block."""
    token = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(token)
