# SPDX-License-Identifier: Apache-2.0
"""An observer of the solver receives each question once, with its answer."""

import threading

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.plan import Plan, Unknown, Unplaceable
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.observer import observing
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.solver.clocks import advancing


class Seen(list):
    """An observer that records its calls."""

    def __call__(self, question, answer):
        self.append((question, answer))


@pytest.mark.parametrize('wanted, options, kind', [
    (group(servers('web', 2)), {}, Plan),
    (group(servers('web', vcpus=99)), {}, Unplaceable),
    (group(servers('web', 2)), {
        'time_limit': 1.0, 'timer': advancing(2.0)}, Unknown)])
def test_it_receives_every_kind_of_answer(wanted, options, kind):
    seen = Seen()
    answer = solve(wanted, two_racks(),
                   settings=Settings(observer=seen, **options))
    assert isinstance(answer, kind)
    (_, shown), = seen
    assert shown is answer


def test_it_receives_the_question():
    seen, snapshot = Seen(), two_racks()
    placed = {'web-0': 'r1h1'}
    wanted = group(servers('web', 2))
    solve(wanted, snapshot, placed=placed, objective='stack',
          settings=Settings(observer=seen))
    (question, _), = seen
    assert question.group == bind(wanted, snapshot)
    assert question.snapshot is snapshot
    assert dict(question.placed) == placed
    assert question.objective.name == load_objective('stack').name


@pytest.mark.parametrize('strategy', Strategy)
def test_every_strategy_reports_each_answer_once(strategy):
    seen = Seen()
    snapshot = cloud(*(host(f'h{n}', 'r', servers=int(n == 0))
                       for n in range(4)))
    answer = solve(group(servers('web', 2), policies=[AntiAffinity()]),
                   snapshot, placed={'web-0': 'h0'},
                   settings=Settings(strategy, observer=seen))
    assert [shown for _, shown in seen] == [answer]


def test_a_registered_observer_sees_calls_of_all_threads():
    seen = Seen()
    threads = [threading.Thread(
        target=solve, args=(group(servers(name)), two_racks()))
        for name in 'abc']
    with observing(seen):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(answer.placements[0].member for _, answer in seen) == [
        'a', 'b', 'c']


def test_a_registered_observer_sees_nothing_after_its_block():
    outer, inner = Seen(), Seen()
    wanted, snapshot = group(servers('web')), two_racks()
    with observing(outer):
        with observing(inner):
            solve(wanted, snapshot)
        solve(wanted, snapshot)
    solve(wanted, snapshot)
    assert (len(outer), len(inner)) == (2, 1)


def test_an_observer_that_is_registered_twice_is_called_twice():
    seen = Seen()
    with observing(seen), observing(seen):
        solve(group(servers('web')), two_racks())
    assert len(seen) == 2


def test_its_exception_leaves_solve():
    def refuse(question, answer):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solve(group(servers('web')), two_racks(),
              settings=Settings(observer=refuse))
    with pytest.raises(ZeroDivisionError), observing(refuse):
        solve(group(servers('web')), two_racks())


def test_an_observer_of_the_settings_does_not_see_trials():
    """Relaxations and headroom solve changed problems that the caller has not
    asked about."""
    seen, wanted = Seen(), group(servers('web', 5), policies=[AntiAffinity()])
    settings = Settings(observer=seen)
    answer = solve(wanted, two_racks(), settings=settings)
    assert isinstance(answer, Unplaceable)
    relax(wanted, two_racks(), reasons=answer.reasons, settings=settings)
    headroom(wanted, two_racks(), answer, settings=settings)
    assert [shown for _, shown in seen] == [answer]
