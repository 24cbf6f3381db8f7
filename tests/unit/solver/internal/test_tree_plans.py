# SPDX-License-Identifier: Apache-2.0
"""Plans after the providers of a host could not serve the first plan."""

from dataclasses import replace

import pytest

from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Placement, Plan
from nova_holistic.model.request_group import RequestGroup
from nova_holistic.policies.location import Location
from nova_holistic.solver.check import check_bound
from nova_holistic.solver.solve import solve
from nova_holistic.solver.trees.tree_plans import plan_on_trees
from tests.unit.builders import cloud, group, host

UNSERVED = {'a': 'h1', 'b': 'h1', 'c': 'h1', 'd': 'h2'}
"""The two cards of h1 have eight units, and these members request eight units.
However, the cards cannot serve three, three and two units."""


def _host(name, *amounts):
    return host(name, 'r1', providers=tuple(
        NestedProvider(f'{name}-{n}', f'{name}-{n}', '', FrozenMapping(
            {'VGPU': Inventory(amount)}))
        for n, amount in enumerate(amounts)))


def _member(name, amount):
    return MemberDescription(name, Requirements(
        FrozenMapping({'VCPU': 1, 'VGPU': amount})))


SNAPSHOT = cloud(_host('h1', 4, 4), _host('h2', 3), _host('h3', 3))


def _solved(wanted, objective):
    """Return the answer if the first problem has a plan that the cards cannot
    serve, and the problems that were solved."""
    problems = []

    def find(flat, snapshot):
        problems.append((flat, snapshot))
        answer = solve(flat, snapshot, objective=objective)
        if len(problems) > 1:
            return answer
        assert isinstance(answer, Plan)
        assert check_bound(flat, snapshot, UNSERVED, {}) == ()
        return replace(answer, placements=tuple(
            Placement(path, name, name, ('r1',))
            for path, name in UNSERVED.items()))

    answer, limits = plan_on_trees(
        bind(wanted, SNAPSHOT), SNAPSHOT, {}, find, lambda: 10.0)
    assert limits == {'h1': 2}
    assert len(problems) == 2
    return answer, problems


def test_the_bound_does_not_depend_on_limits_that_exclude_plans():
    """Two hosts are enough for a, c and d on h1 and b on h2. After the first
    plan, h1 takes only two members."""
    wanted = group(*(_member(name, amount) for name, amount in zip(
        'abcd', (3, 3, 2, 2), strict=True)))
    answer, _ = _solved(wanted, 'fewest-hosts')
    assert answer.objective.value == 3
    assert answer.objective.bound == 2
    assert answer.objective.gap == pytest.approx(1 / 3)


@pytest.mark.parametrize('objective', ['stack', 'spread'])
def test_limits_do_not_change_the_objective(objective):
    wanted = group(*(_member(name, amount) for name, amount in zip(
        'abcd', (3, 3, 2, 2), strict=True)))
    answer, ((first, snapshot), _) = _solved(wanted, objective)
    same = solve(first, snapshot, placed={}, objective=objective)
    assert answer.objective.bound == same.objective.bound
    assert answer.objective.value >= same.objective.value - 1e-9


def test_the_bound_of_plans_with_fewer_violations_is_not_kept():
    """The first plan violates no preference. After it, h1 takes two of the
    three members that prefer it."""
    near = group(*(_member(name, amount) for name, amount in zip(
        'abc', (3, 3, 2), strict=True)), name='near', policies=[
            Location(path=('r1', 'h1'), weight=1.0)])
    whole = group(_member('d', 2), groups=[near])
    problems = []

    def find(flat, snapshot):
        problems.append(flat)
        answer = solve(flat, snapshot, objective='fewest-hosts')
        if len(problems) == 1:
            assert answer.preference_cost.value == 0
            assert [answer.hosts()[f'near/{name}'] for name in 'abc'] == [
                'h1'] * 3
        return answer

    answer, limits = plan_on_trees(
        bind(whole, SNAPSHOT), SNAPSHOT, {}, find, lambda: 10.0)
    assert limits == {'h1': 2}
    assert answer.preference_cost.value == 1
    assert answer.preference_cost.bound == 0
    assert answer.objective.bound == 0


def _with_traits(name, *cards):
    """A host with cards: the units and the traits of each."""
    return host(name, 'r1', providers=tuple(
        NestedProvider(f'{name}-{n}', f'{name}-{n}', '', FrozenMapping(
            {'VGPU': Inventory(units)}), traits=frozenset(traits))
        for n, (units, traits) in enumerate(cards)))


@pytest.mark.parametrize('subsets, bound', [(4, 3), (1, 2)])
def test_the_rows_of_sets_of_demands_improve_the_bound(
        set_limits, subsets, bound):
    """The card of a and b serves two members of each host, but the rows of the
    single demands and of all demands permit four."""
    set_limits('trees', subsets_of=subsets)
    snapshot = cloud(*(_with_traits(
        f'h{n}', (2, ('CUSTOM_A', 'CUSTOM_B')), (8, ('CUSTOM_C',)))
        for n in range(4)))
    wanted = group(*(MemberDescription(name.lower(), Requirements(
        FrozenMapping({'VCPU': 1}), request_groups=(RequestGroup(
            '_card', FrozenMapping({'VGPU': 1}),
            required_traits=frozenset({f'CUSTOM_{name}'})),)), number)
        for name, number in (('A', 3), ('B', 3), ('C', 2))))
    answer = solve(wanted, snapshot, objective='fewest-hosts')
    assert (answer.objective.value, answer.objective.bound) == (3, bound)
