# SPDX-License-Identifier: Apache-2.0
"""External policies and objectives work in every stage. If they omit optional
methods, the solver reduces nothing and ignores nothing."""

import random

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.plan import Plan, Unplaceable
from nova_holistic.model.policy_types import PolicyTypes
from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.policies.policy_evaluation import (
    Cloud, PolicyEvaluation)
from nova_holistic.solver.check import check
from nova_holistic.solver.diagnosis.explain import explain
from nova_holistic.solver.planned_group import PlannedGroup
from nova_holistic.solver.settings import Improvement, Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.effort import some, times
from tests.unit.builders import cloud, host
from tests.unit.solver.clocks import standing
from tests.unit.solver import oracle
from tests.unit.solver.outsiders import POLICIES, Rent

KNOWN = load_policy_types()
TYPES = PolicyTypes({**KNOWN.policies, **POLICIES}, KNOWN.relationships)
OBJECTIVES = ('spread', 'stack', 'fewest-hosts', Rent())


def _policy(chance, levels):
    kind = chance.choice([*POLICIES, *POLICIES, 'anti-affinity', 'spread'])
    if kind == 'fused' and 'feed' not in levels:
        kind = 'escorted'
    keys = {
        'in-pairs': {}, 'escorted': {'level': chance.choice((
            'rack', 'host'))}, 'fused': {'most': chance.choice((1, 2, 3))},
        'licensed': {'paint': 'red', 'vcpus': chance.choice((0, 1, 3))},
        'shunned': {'rack': chance.choice(('r0', 'r1', 'attic'))},
        'anti-affinity': {'level': 'rack', 'max_per_domain': 2},
        'spread': {'level': 'rack', 'max_skew': 1},
    }.get(kind, {'colours': chance.choice((['red'], ['blue', 'red']))})
    weight = {'weight': chance.choice((1, 2.5))} if (
        chance.random() < 0.4) else {}
    return {'type': kind, **keys, **weight}


def random_case(seed):
    """Return a random small cloud and a group: (group, snapshot, placed)."""
    chance = random.Random(seed)
    snapshot = cloud(*(host(
        f'h{n}', *([f'r{chance.randrange(3)}']
                   if chance.random() < 0.9 else []),
        vcpus=chance.choice((1, 2, 3, 4, 6)), labels={
            key: value for key, value in (
                ('paint', chance.choice(('red', 'blue', None))),
                ('feed', chance.choice(('A', 'B', 'C', None))))
            if value}) for n in range(chance.choice((3, 4, 5)))))
    document = {'name': 'g', 'members': [
        {'name': name, 'count': chance.choice((1, 2)),
         'resources': {'VCPU': chance.choice((1, 2, 3))}} for name in 'ab']}
    policies = [_policy(chance, snapshot.all_levels())
                for _ in range(chance.choice((1, 1, 2)))]
    if chance.random() < 0.3:
        document['groups'] = [{
            'name': 'in', 'policies': policies, 'members': [
                {'name': 'x', 'count': 2, 'resources': {'VCPU': 1}}]}]
    else:
        document['policies'] = policies
    placed = {'a-0': chance.choice(snapshot.hosts).name} if (
        chance.random() < 0.25) else {}
    return parse_group(document, TYPES), snapshot, placed


def cost(group, snapshot, where):
    """Return the weighted violations by the policies' checks, or None if a
    hard policy is violated."""
    hosts = {h.name: h for h in snapshot.hosts}
    placement = {path: hosts[name] for path, name in where.items()}
    total = 0
    for scope in group.scopes():
        for rule in scope.group.rules:
            count = rule.check(scope, placement, snapshot).count
            if rule.hard and count:
                return None
            total += (rule.weight or 0) * count
    return total


def value(objective, group, snapshot, placed, where):
    if isinstance(objective, str):
        return oracle.value(objective, group, snapshot, placed, where)
    hosts = {h.name: h for h in snapshot.hosts}
    return objective.value(group.all_members(), {
        path: hosts[name] for path, name in where.items()}, placed, snapshot)


def best(group, snapshot, placed, objective):
    return min(((wishes, value(objective, group, snapshot, placed, where))
                for where in oracle.placements(group, snapshot, placed)
                if (wishes := cost(group, snapshot, where)) is not None),
               default=None)


@pytest.mark.parametrize('strategy', Strategy)
def test_every_strategy_satisfies_external_policies(strategy):
    refused = 0
    for seed in range(times(80)):
        group, snapshot, placed = random_case(seed)
        objective = OBJECTIVES[seed % 4]
        expected = best(group, snapshot, placed, objective)
        answer = solve(group, snapshot, placed=placed, objective=objective,
                       settings=Settings(strategy, timer=standing))
        if expected is None:
            refused += 1
            assert isinstance(answer, Unplaceable), seed
            assert answer.reasons
            continue
        assert isinstance(answer, Plan), seed
        wishes = cost(group, snapshot, answer.hosts())
        assert wishes is not None and wishes >= expected[0] - 1e-6, seed
        if wishes == pytest.approx(expected[0], abs=1e-6):
            assert answer.objective.value >= expected[1] - 1e-6, seed
            assert answer.objective.bound <= expected[1] + 1e-6, seed
        if strategy in (Strategy.AUTO, Strategy.WHOLE):
            assert (wishes, answer.objective.value) == pytest.approx(
                expected, abs=1e-6), seed
    assert times(80) / 10 < refused < times(80) / 2, 'lopsided'


def test_explanations_count_open_hosts_under_external_policies():
    for seed in range(400, 400 + times(30)):
        group, snapshot, _ = random_case(seed)
        objective = OBJECTIVES[seed % 4]
        answer = solve(group, snapshot, objective=objective)
        if not isinstance(answer, Plan):
            continue
        where = answer.hosts()
        for each in explain(PlannedGroup(group, snapshot, answer), objective):
            assert each.open == sum(
                h.name != where[each.member] and not check(
                    group, snapshot, {**where, each.member: h.name})
                for h in snapshot.hosts), seed


def one(policy, *members, **keys):
    return parse_group({
        'name': 'g', 'policies': [{'type': policy, **keys}],
        'members': list(members) or [
            {'name': 'a', 'count': 3, 'resources': {'VCPU': 1}}]}, TYPES)


@pytest.mark.parametrize('policy, keys', [
    ('in-pairs', {}), ('painted', {'colours': ['green']}),
    ('painted-and-says-so', {'colours': ['green']}),
    ('fused', {'most': 1}), ('licensed', {'paint': 'red', 'vcpus': 1})])
def test_an_external_policy_that_leaves_no_plan_is_named(policy, keys):
    snapshot = cloud(*(host(f'h{n}', f'r{n}', labels={
        'paint': 'red', 'feed': 'A'}) for n in range(3)))
    answer = solve(one(policy, **keys), snapshot)
    assert isinstance(answer, Unplaceable)
    assert policy in ' '.join(f'{r.at} {r.message}' for r in answer.reasons)


def test_an_unsatisfiable_policy_escorted_is_named():
    snapshot = cloud(host('h', 'r', vcpus=4))
    answer = solve(one('escorted', *(
        {'name': name, 'count': count, 'resources': {'VCPU': 1}}
        for name, count in (('a', 1), ('b', 2)))), snapshot)
    assert 'escorted' in str(answer.reasons)


def test_a_check_without_messages_refuses_a_placement():
    # in-pairs counts violations, but has no messages.
    snapshot = cloud(host('h1', 'r'), host('h2', 'r'))
    wanted = one('in-pairs', {
        'name': 'a', 'count': 2, 'resources': {'VCPU': 1}})
    shown = check(wanted, snapshot, {'a-0': 'h1', 'a-1': 'h2'})
    assert [(r.at, r.message) for r in shown] == [
        ('in-pairs', 'violations: 2')]
    assert check(wanted, snapshot, {'a-0': 'h1', 'a-1': 'h1'}) == ()


def test_external_policies_count_placed_members():
    snapshot = cloud(*(host(f'h{n}', 'r', labels={'feed': feed})
                       for n, feed in enumerate('AABB')))
    wanted = one('fused', most=2)
    answer = solve(wanted, snapshot,
                   placed={'a-0': 'h0', 'a-1': 'h1'})
    assert answer.hosts()['a-2'] in ('h2', 'h3')
    assert isinstance(solve(
        one('fused', most=1), snapshot,
        placed={'a-0': 'h0', 'a-1': 'h1'}), Unplaceable)


@pytest.mark.parametrize('policy, keys, fine', [
    ('painted', {'colours': ['red']}, ('h0', 'h1')),
    ('fused', {'most': 1}, ('h1', 'h2')),
    ('licensed', {'paint': 'red', 'vcpus': 1}, ('h2',))])
def test_the_scheduler_applies_external_policies_to_a_move(policy, keys, fine):
    snapshot = cloud(*(host(f'h{n}', 'r', labels={
        'paint': paint, 'feed': feed}) for n, (paint, feed) in enumerate((
            ('red', 'A'), ('red', 'B'), ('blue', 'C')))))
    hosts = {h.name: h for h in snapshot.hosts}
    evaluate = PolicyEvaluation(one(policy, **keys), snapshot.levels, 'a-1',
                                {'a-0': hosts['h0']},
                                cloud=Cloud(snapshot, hosts))
    assert tuple(name for name, each in hosts.items()
                 if not evaluate.objections(each)) == fine
    wish = PolicyEvaluation(one(policy, weight=2, **keys), snapshot.levels,
                            'a-1',
                            {'a-0': hosts['h0']}, cloud=Cloud(snapshot, hosts))
    assert [wish.cost(each) == 0 for each in hosts.values()] == [
        name in fine for name in hosts]


PAINTED = cloud(*(host(
    f'h{n}', f'r{n // 40}', vcpus=(32, 4, 8, 16)[n % 4], labels={
        'feed': f'F{n % 40}', **({'paint': 'red'} if n % 50 == 7 else {
            'paint': 'blue'} if n % 3 == 0 else {})})
    for n in range(1200)))


def rotated(values, number):
    number %= len(values)
    return (*values[number:], *values[:number])


LARGE = [(policy, keys, objective)
         for row, (policy, keys) in enumerate((
             ('in-pairs', {}), ('painted', {'colours': ['red']}),
             ('painted-and-says-so', {'colours': ['red']}),
             ('escorted', {'level': 'rack'}), ('fused', {'most': 6}),
             ('licensed', {'paint': 'blue', 'vcpus': 10}),
             ('shunned', {'rack': 'r7'})))
         for objective in rotated(('spread', 'fewest-hosts', Rent()), row)]


# A third of the cases still contain each policy and each objective.
@pytest.mark.parametrize('policy, keys, objective', some(LARGE, 3))
def test_external_policies_hold_in_a_large_cloud(policy, keys, objective):
    members = [{'name': name, 'count': 40, 'resources': {'VCPU': vcpus}}
               for name, vcpus in (('a', 1), ('b', 2))]
    # Few steps search for better plans.
    settings = Settings(
        time_limit=1, timer=standing, improvement=Improvement(failures=5))
    hard = one(policy, *members, **keys)
    answer = solve(hard, PAINTED, objective=objective, settings=settings)
    assert isinstance(answer, Plan)
    assert cost(hard, PAINTED, answer.hosts()) == 0
    # A preference that can be satisfied completely is satisfied completely.
    soft = solve(one(policy, *members, weight=2, **keys), PAINTED,
                 objective=objective, settings=settings)
    assert [p.violations for p in soft.preferences] == [0]
