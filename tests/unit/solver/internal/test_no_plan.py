# SPDX-License-Identifier: Apache-2.0
"""A relaxation proves that some groups have no plan. Exhaustive search
verifies this on random cases with all types of rules."""

from nova_holistic.model.binding import bind
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.spread import Spread
from nova_holistic.solver.diagnosis.contradiction import contradiction
from nova_holistic.solver.diagnosis.relaxation import has_no_plan
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem.deadline import Deadline
from tests.effort import times
from tests.unit.builders import cloud, group, host, servers
from tests.unit.solver.clocks import Stopping
from tests.unit.solver.internal.deadlines import in_time
from tests.unit.solver import oracle
from tests.unit.solver.strategies import seeded


def _case(group, snapshot, placed):
    # Placed servers do not count as servers from outside the group.
    return Case.of(bind(group, snapshot),
                   snapshot.without_servers(placed.values()), placed)


def _uneven(max_skew, weight=None):
    """Racks that must hold two members each, in zones of two racks and one
    rack, which the members are spread over."""
    snapshot = cloud(
        *(host(f'h{rack}{number}', az, f'r{rack}')
          for az, rack in (('az1', 1), ('az1', 2), ('az2', 3))
          for number in range(2)), levels=('az', 'rack', 'host'))
    return _case(group(servers('web', 6), policies=[
        AntiAffinity(level='rack', max_per_domain=2),
        Spread(level='az', max_skew=max_skew, weight=weight)]), snapshot, {})


def test_policies_that_contradict_each_other_leave_no_plan():
    case = _uneven(1)
    assert contradiction(case) is None
    assert has_no_plan(case, in_time())
    assert not has_no_plan(_uneven(2), in_time())


def test_a_preference_leaves_a_plan():
    assert not has_no_plan(_uneven(1, weight=2.0), in_time())


def test_nothing_is_proved_without_time():
    assert not has_no_plan(_uneven(1), Deadline(Stopping(1), 60.0))


def test_no_group_with_a_plan_is_proved_to_have_none():
    proved = 0
    number = times(300)
    for seed in range(20_000, 20_000 + number):
        case = seeded(seed)
        wanted, snapshot = case.read()
        solved = _case(wanted, snapshot, case.placed)
        if has_no_plan(solved, in_time()):
            proved += 1
            assert oracle.best(solved.group, snapshot, case.placed,
                               'fewest-hosts') is None, seed
    assert number / 4 < proved < number, 'the cases are lopsided'
