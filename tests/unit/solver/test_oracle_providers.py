# SPDX-License-Identifier: Apache-2.0
"""Answers for hosts with nested and sharing providers agree with exhaustive
search: plans, proofs, bounds, headroom and relaxations, together with policies
on racks, traffic, members that stay and weights of any size."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
import random

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.shared_resources import with_shared_resources
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.model.plan import Unknown, Unplaceable
from nova_holistic.model.request_group import ISOLATE, NONE, RequestGroup
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.bandwidth import Bandwidth
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies.relationship_affinity import RelationshipAffinity
from nova_holistic.policies.relationship_anti_affinity import (
    RelationshipAntiAffinity)
from nova_holistic.policies.spread import Spread
from nova_holistic.policies.traits import Traits
from nova_holistic.solver.check import check
from nova_holistic.solver.relaxations.headroom import headroom
from nova_holistic.solver.relaxations.relax import relax
from nova_holistic.solver.settings import Settings, Strategy
from nova_holistic.solver.solve import solve
from tests.effort import times
from tests.unit.builders import cloud, group, host
from tests.unit.solver.clocks import standing
from tests.unit.solver import oracle, oracle_providers

CASES = times(60)
"""Number of cases of each test. With NOVA_HOLISTIC_TEST_EFFORT=100 there are
thousands."""

WEIGHTS = (None, None, 1e-6, 0.3, 0.1, 1.0, 2.5, 1e6)
CLASSES = ('VGPU', 'CUSTOM_NIC')
OBJECTIVES = ('fewest-hosts', 'network')


def _inventory(chance, totals):
    """Return an inventory that is rarely overcommitted or has units."""
    options = {}
    if chance.random() < 0.2:
        options['used'] = chance.randint(0, 3)
    if chance.random() < 0.15:
        options['reserved'] = chance.randint(0, 3)
    if chance.random() < 0.15:
        options['allocation_ratio'] = chance.choice((0.5, 1.5, 2.0))
    if chance.random() < 0.15:
        options.update(chance.choice((
            {'min_unit': 2}, {'max_unit': 2}, {'step_size': 2})))
    return Inventory(chance.choice(totals), **options)


def _cards(chance, name):
    """Return nested providers, some of which are below the one before."""
    found = []
    for number in range(chance.choice((0, 1, 2, 2, 3))):
        classes = chance.choice((CLASSES[:1], CLASSES[1:], CLASSES, CLASSES))
        found.append(NestedProvider(
            f'{name}-{number}', f'{name}-{number}',
            found[-1].uuid if found and chance.random() < 0.4 else '',
            FrozenMapping({each: _inventory(chance, (0, 1, 2, 3, 3, 4, 6))
                           for each in classes}),
            frozenset(t for t in 'AB' if chance.random() < 0.4)))
    return tuple(found)


def _cloud(chance, most):
    shares = [NestedProvider(
        f's{number}', f's{number}', '', FrozenMapping({
            name: _inventory(chance, (2, 3, 4, 6)) for name in chance.choice((
                ('DISK_GB',), ('DISK_GB',), ('DISK_GB', 'CUSTOM_NIC')))}),
        sharing=True) for number in range(chance.choice((0, 1, 2)))]
    hosts = []
    for number in range(chance.randint(most // 2, most)):
        has = {'VCPU': _inventory(chance, (2, 3, 4, 6))}
        own = [each for each in shares if chance.random() < 0.6]
        if chance.random() < (0.2 if own else 0.8):
            has['DISK_GB'] = _inventory(chance, (1, 2, 3, 4))
        if chance.random() < 0.2:
            has['VGPU'] = _inventory(chance, (1, 2))
        hosts.append(with_shared_resources(host(
            f'h{number}', chance.choice(('r1', 'r1', 'r2')), inventories=has,
            traits=frozenset(t for t in 'AB' if chance.random() < 0.6),
            servers=chance.choice((0, 0, 0, 0, 1)),
            enabled=chance.random() < 0.95,
            providers=_cards(chance, f'h{number}')), own))
    return cloud(*hosts)


def _requirements(chance):
    vcpus = chance.choice((0, 1, 1, 2))
    amounts = {'VCPU': vcpus} if vcpus else {}
    if chance.random() < 0.4:
        amounts['DISK_GB'] = chance.choice((1, 1, 2))
    if chance.random() < 0.3:
        amounts[chance.choice(CLASSES)] = chance.choice((1, 1, 2))
    groups = tuple(RequestGroup(f'_{number}', FrozenMapping(chance.choice((
        {'VGPU': 1}, {'VGPU': 1}, {'CUSTOM_NIC': 1}, {'VGPU': 2},
        {'VGPU': 1, 'CUSTOM_NIC': 1}, {'VGPU': 1, 'CUSTOM_NIC': 2},
        {'VGPU': 2, 'CUSTOM_NIC': 1}, {'DISK_GB': 1}))),
        frozenset(t for t in 'AB' if chance.random() < 0.1))
        for number in range(chance.choice((0, 0, 1, 1, 2))))
    subtrees = (frozenset(each.suffix for each in groups),) if (
        len(groups) > 1 and chance.random() < 0.3) else ()
    return Requirements(
        FrozenMapping(amounts), request_groups=groups, same_subtree=subtrees,
        group_policy=chance.choice((NONE, ISOLATE)) if groups else NONE)


def _policy(chance):
    weight = chance.choice(WEIGHTS)
    level = chance.choice(('rack', 'host'))
    return chance.choice((
        lambda: Affinity(level=level, weight=weight),
        lambda: AntiAffinity(level=level, weight=weight,
                             max_per_domain=chance.choice((1, 2))),
        lambda: Spread(level='rack', max_skew=1, weight=weight),
        lambda: Exclusive(level=level, weight=weight),
        lambda: Traits(has=frozenset('A'), weight=weight)))()


def _relationship(chance):
    weight, level = chance.choice(WEIGHTS), chance.choice(('rack', 'host'))
    between = ('web', 'db')
    return chance.choice((
        lambda: RelationshipAffinity(
            between=between, level=level, weight=weight),
        lambda: RelationshipAntiAffinity(
            between=between, level=level, weight=weight),
        lambda: Bandwidth(between=between, level='rack', weight=weight,
                          mbps=chance.choice((1, 100)))))()


def random_case(seed, hosts=4, members=4):
    """Return a random group, a cloud, and placed members."""
    chance = random.Random(seed)
    snapshot = _cloud(chance, hosts)
    first = chance.randint(1, members - 1)
    numbers = {'web': first, 'db': chance.randint(1, members - first)}
    kinds = [_requirements(chance) for _ in range(2)]
    nested = [group(
        MemberDescription('m', chance.choice(kinds), number), name=name,
        policies=[_policy(chance) for _ in range(chance.choice((0, 0, 1)))])
        for name, number in numbers.items()]
    wanted = group(
        groups=nested, policies=[
            _policy(chance) for _ in range(chance.choice((0, 1, 1)))],
        relationships=[_relationship(chance) for _ in range(
            chance.choice((0, 1)))])
    placed = {m.path: chance.choice(snapshot.hosts).name
              for m in wanted.all_members() if chance.random() < 0.05}
    return wanted, snapshot, placed


@pytest.mark.parametrize('objective', OBJECTIVES)
def test_answers_agree_with_exhaustive_search(objective):
    chance, found = random.Random(objective), Counter()
    for seed in range(CASES):
        strategy = chance.choice((Strategy.AUTO, *Strategy))
        case = random_case(seed)
        found[_compare(case, objective, strategy,
                       f'{seed} {objective} {strategy}')] += 1
    assert found['plan'] > CASES / 4
    assert found['none'] > CASES / 10
    assert found['unknown'] <= CASES / 10


def _compare(case, objective, strategy, where):
    """Compare the answer with all plans, and return what it is."""
    wanted, snapshot, placed = case
    every = [(cost, oracle.value(objective, wanted, snapshot, placed, hosts),
              hosts) for cost, hosts in oracle_providers.plans(*case)]
    answer = solve(wanted, snapshot, placed=placed, objective=objective,
                   settings=Settings(strategy, timer=standing))
    if isinstance(answer, Unplaceable):
        assert not every, where
        assert answer.reasons, where
        return 'none'
    if isinstance(answer, Unknown):
        # The rows of providers are necessary, but not always sufficient.
        assert any(each.providers for each in snapshot.hosts), where
        return 'unknown'
    assert check(wanted, snapshot, answer.hosts(), placed) == (), where
    cost, value = next(((cost, value) for cost, value, hosts in every
                        if hosts == answer.hosts()), (None, None))
    assert cost is not None, where
    assert answer.objective.value == pytest.approx(value), where
    weights = [Fraction(str(rule.weight)) for scope in wanted.scopes()
               for rule in scope.group.rules if not rule.hard]
    assert cost == sum(weight * each.violations for weight, each in zip(
        weights, answer.preferences, strict=True)), where
    least = min(value for other, value, _ in every if other <= cost)
    assert answer.objective.bound <= least + 1e-7, where
    if weights:
        lowest = float(min(other for other, *_ in every))
        assert answer.preference_cost.bound <= lowest * (1 + 1e-9), where
    return 'plan'


def _copies(wanted, number):
    return Group('copies', groups=tuple(
        replace(wanted, name=f'c{n}') for n in range(number)))


def test_headroom_agrees_with_exhaustive_search():
    found = Counter()
    for seed in range(50_000, 50_000 + CASES):
        wanted, snapshot, _ = random_case(seed, 3, 2)
        planned = solve(wanted, snapshot)
        # Without time, an answer takes milliseconds.
        answer = headroom(wanted, snapshot, planned, settings=(
            Settings(timer=standing, time_limit=0.0)))
        if answer.at_most is not None and answer.at_most <= 4:
            searched = headroom(wanted, snapshot, planned, settings=(
                Settings(timer=standing)))
            assert searched.at_least >= answer.at_least, seed
            assert searched.at_most <= answer.at_most, seed
            answer = searched
            found['searched'] += 1
            found['exact'] += answer.at_least == answer.at_most
        # Each copy has two members at most. Three copies are the most that
        # are enumerated.
        most = next((number for number in range(3) if not any(
            oracle_providers.plans(_copies(wanted, number + 1), snapshot,
                                   {}))), 3)
        if most < 3:
            assert answer.at_least <= most, seed
        assert answer.at_most is None or answer.at_most >= most, seed
    assert found['exact'] > found['searched'] / 2 > 0


def _fits(wanted, snapshot):
    return any(oracle_providers.plans(wanted, snapshot, {}))


def _with_more(snapshot, kind, beside, number):
    """Return the snapshot with more hosts of a kind, which are empty."""
    def empty(inventories):
        return FrozenMapping({name: replace(each, used=0)
                              for name, each in inventories.items()})

    return replace(snapshot, hosts=(*snapshot.hosts, *(replace(
        kind, name=f'extra-{n}', servers=0, location=beside.location,
        inventories=empty(kind.inventories), providers=tuple(
            each if each.sharing else replace(
                each, inventories=empty(each.inventories))
            for each in kind.providers)) for n in range(number))))


def test_relaxations_agree_with_exhaustive_search():
    found = Counter()
    for seed in range(90_000, 90_000 + 3 * CASES):
        wanted, snapshot, _ = random_case(seed, 3, 3)
        answer = solve(wanted, snapshot, settings=Settings(timer=standing))
        if not isinstance(answer, Unplaceable):
            continue
        relaxed = relax(wanted, snapshot, reasons=answer.reasons,
                        settings=Settings(timer=standing))
        _compare_counts(wanted, snapshot, relaxed, seed)
        found['counts'] += bool(relaxed.counts)
        _compare_hosts(wanted, snapshot, relaxed, seed)
        found['hosts'] += relaxed.hosts is not None
    assert found['counts'] > CASES / 20
    assert found['hosts'] > CASES / 20


def _compare_counts(wanted, snapshot, relaxed, seed):
    known = {each.member: each for each in relaxed.counts}
    for number, nested in enumerate(wanted.groups):
        count = nested.members[0].count
        fits = [less for less in range(1, count) if _fits(replace(
            wanted, groups=tuple(
                replace(each, members=(each.members[0].with_count(less),))
                if each is nested else each
                for each in wanted.groups)), snapshot)]
        each = known.get(f'{nested.name}/m')
        if each is not None:
            assert each.count in fits, seed
            assert each.count == max(fits) or not each.largest, seed
        elif f'groups[{number}].members[0].count' not in relaxed.undecided:
            assert not fits, seed


def _compare_hosts(wanted, snapshot, relaxed, seed):
    hosts = {each.name: each for each in snapshot.hosts}
    enabled = [each for each in snapshot.hosts if each.enabled]
    if relaxed.hosts is not None:
        (added, *others) = relaxed.hosts.added
        if not others and added.location in {
                each.location for each in snapshot.hosts}:
            assert _fits(wanted, _with_more(
                snapshot, hosts[relaxed.hosts.like], replace(
                    hosts[added.beside], location=added.location),
                added.hosts)), seed
    if 'hosts' not in relaxed.undecided and (
            relaxed.hosts is None
            or relaxed.hosts.smallest and relaxed.hosts.hosts > 1):
        for kind in enabled:
            for beside in enabled:
                assert not _fits(wanted, _with_more(
                    snapshot, kind, beside, 1)), seed
