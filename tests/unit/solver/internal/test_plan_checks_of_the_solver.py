# SPDX-License-Identifier: Apache-2.0
"""An invalid plan of a faulty search fails the check of plans."""

import pytest

from nova_holistic.model.plan import Unknown
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.milp.search import Search
from nova_holistic.solver.milp import task
from nova_holistic.solver.problem import incumbent
from nova_holistic.solver.problem.search_status import SearchStatus
from nova_holistic.solver.settings import Settings
from nova_holistic.solver import solve
from tests.plan_checks import BadPlan
from tests.unit.builders import group, servers, two_racks


@pytest.mark.parametrize('wanted', [
    group(servers('web', 2), policies=[AntiAffinity()]),
    group(servers('web', 17)), group(servers('web', location=('r2',)))],
    ids=['policy', 'capacity', 'location'])
def test_an_invalid_plan_that_claims_to_be_optimal(wanted, monkeypatch):
    class Careless(Search):
        def run(self, *start):
            self.best = tuple(
                {0: len(c.members)} for c in self.case.classes)
            return SearchStatus.OPTIMAL

    monkeypatch.setattr(task, 'Search', Careless)
    # The incumbent refuses the plan. Without this check, the test suite's
    # check refuses it.
    assert isinstance(solve.solve(
        wanted, two_racks(), settings=Settings('whole')), Unknown)
    monkeypatch.setattr(incumbent, 'check_bound', lambda *question: ())
    with pytest.raises(BadPlan, match='r1h1'):
        solve.solve(wanted, two_racks(), settings=Settings('whole'))
