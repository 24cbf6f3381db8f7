# SPDX-License-Identifier: Apache-2.0
"""Better plans near a plan: whose turn it is to move, and who stays."""

from nova_holistic.model.group import Group
from nova_holistic.objectives import load_objective
from nova_holistic.policies.affinity import SoftAffinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.milp.backend import Outcome, Status
from nova_holistic.solver.milp import free_classes as around
from nova_holistic.solver.milp.highs import HiGHS
from nova_holistic.solver.milp import search
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.problem.case import Case
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.internal.deadlines import in_time

TEN = cloud(*(host(f'h{n}', f'r{n % 2}') for n in range(10)))
SHOP = group(groups=[
    *(Group(f'tier{n}', (servers('node', 2, vcpus=1 + n),), (),
            (AntiAffinity(),)) for n in range(4)),
    Group('close', (servers('node', 2),), (), (SoftAffinity(),))])


def test_neighbourhoods_cover_all_classes_and_keep_violated_ones(set_limits):
    set_limits('milp', free_places=20)
    case = Case.of(SHOP, TEN, {})
    apart = tuple({2 * c % 10: 1, (2 * c + 1) % 10: 1} for c in range(5))
    parts = list(around.free_classes(case, lambda: apart))
    unhappy = {c for c, each in enumerate(case.classes)
               if each.members[0].path.startswith('close')}
    assert set.union(*parts) == set(range(5))
    assert all(unhappy <= each and len(each) <= 3 for each in parts)


class ForParts(HiGHS):
    """A solver for which a program of all members is too large, but for one
    of nothing to minimise."""

    def solve(self, problem, **options):
        free = [v for v in problem.variables() if v.lowBound != v.upBound]
        if problem.objective and len(free) > 60:
            return Outcome(Status.NOTHING)
        return super().solve(problem, **options)


def test_models_of_a_neighbourhood_improve_a_plan(monkeypatch, set_limits):
    set_limits('milp', exact_variables=20, free_places=20)
    monkeypatch.setattr(search, 'greedy', lambda *_: None)
    aim = load_objective('fewest-hosts')

    def hosts(solver):
        found = Search(Case.of(SHOP, TEN, {}), aim, solver,
                       in_time(), 0.01)
        found.run()
        return found.worth

    best = hosts(HiGHS())
    assert hosts(ForParts()) == best == (0, 2)
