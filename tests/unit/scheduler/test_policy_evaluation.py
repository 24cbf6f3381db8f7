# SPDX-License-Identifier: Apache-2.0
"""Hosts are evaluated by the violations that the member adds to its group."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Link
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.policies.exclusive import Exclusive
from nova_holistic.policies import load_policy_types
from nova_holistic.scheduler.policies.policy_evaluation import PolicyEvaluation

LEVELS = ('rack', 'host')
SMALL = {'VCPU': 1}


def host(name, rack):
    return Host(name=name, node=name, uuid='', location=(rack,),
                inventories=FrozenMapping())


def evaluate(policies=(), path='', others=FrozenMapping(), *, nested=(),
             relationships=()):
    """The evaluation of one of the members a, b and c, or of d in the nested
    group."""
    group = parse_group({
        'name': 'web', 'policies': list(policies),
        'relationships': list(relationships),
        'members': [{'name': name, 'resources': SMALL} for name in 'abc'],
        'groups': [{'name': 'db', 'policies': list(nested),
                    'members': [{'name': 'd', 'resources': SMALL},
                                {'name': 'e', 'resources': SMALL}]}],
    }, load_policy_types())
    return PolicyEvaluation(group, LEVELS, path, others)


APART = {'type': 'anti-affinity', 'level': 'rack'}


def test_an_objection_names_the_rack_and_both_members():
    evaluation = evaluate([APART], 'a', {'b': host('h1', 'r1')})
    (objection,) = evaluation.objections(host('h2', 'r1'))
    assert 'anti-affinity' in objection
    assert 'r1' in objection and 'a' in objection and 'b' in objection
    assert evaluation.objections(host('h3', 'r2')) == ()


def test_existing_violations_of_others_are_no_objection():
    together = {'b': host('h1', 'r1'), 'c': host('h2', 'r1')}
    evaluation = evaluate([APART], 'a', together)
    assert evaluation.objections(host('h3', 'r2')) == ()
    assert evaluation.objections(host('h3', 'r1')) != ()


def test_only_policies_of_enclosing_groups_apply():
    nested = [{'type': 'affinity', 'level': 'rack'}]
    inside = evaluate([], 'db/d', {'db/e': host('h1', 'r1')}, nested=nested)
    assert inside.objections(host('h2', 'r2')) != ()
    assert inside.objections(host('h2', 'r1')) == ()
    outside = evaluate([], 'a', {'db/e': host('h1', 'r1')}, nested=nested)
    assert outside.objections(host('h2', 'r2')) == ()
    around = evaluate([APART], 'db/d', {'a': host('h1', 'r1')})
    assert around.objections(host('h2', 'r1')) != ()


def test_a_preference_costs_its_weight_and_is_no_objection():
    evaluation = evaluate(
        [{**APART, 'weight': 3}], 'a', {'b': host('h1', 'r1')})
    assert evaluation.objections(host('h2', 'r1')) == ()
    assert evaluation.cost(host('h2', 'r1')) == 3
    assert evaluation.cost(host('h2', 'r2')) == 0


def test_a_member_alone_may_go_anywhere():
    evaluation = evaluate([APART], 'a', {})
    assert evaluation.objections(host('h1', 'r1')) == ()


def test_a_move_off_a_shared_rack_must_fit_through_the_uplinks():
    group = parse_group({
        'name': 'web',
        'relationships': [{'type': 'bandwidth', 'between': ['a', 'b'],
                           'mbps': 600, 'level': 'rack'}],
        'members': [{'name': name, 'resources': SMALL} for name in 'ab'],
    }, load_policy_types())
    evaluation = PolicyEvaluation(
        group, LEVELS, 'a', {'b': host('h1', 'r1')}, (
            Link(('r1',), 1000), Link(('r2',), 1000, 500), Link(('r3',), 600)))
    assert evaluation.objections(host('h2', 'r1')) == ()
    (objection,) = evaluation.objections(host('h3', 'r2'))
    assert 'uplink of rack r2' in objection
    assert evaluation.objections(host('h4', 'r3')) == ()


class Counted(AntiAffinity):
    """A policy that records the placements that it checks."""

    asked: ClassVar[list] = []

    def check(self, scope, placement, snapshot):
        self.asked.append(set(placement))
        return super().check(scope, placement, snapshot)


def counted(weight=None):
    """The evaluation of member a while b is on rack r1."""
    Counted.asked.clear()
    group = Group('web', policies=(Counted(level='rack', weight=weight),),
                  members=tuple(MemberDescription(name, Requirements())
                                for name in 'ab'))
    return PolicyEvaluation(group, LEVELS, 'a', {'b': host('h1', 'r1')})


def test_a_policy_is_checked_once_per_host():
    evaluation = counted()
    for _ in range(3):
        assert evaluation.objections(host('h2', 'r2')) == ()
    assert Counted.asked == [{'a', 'b'}]


def test_the_former_placement_is_checked_only_after_a_violation():
    evaluation = counted()
    assert evaluation.objections(host('h2', 'r1')) != ()
    assert Counted.asked == [{'a', 'b'}, {'b'}]


def test_preferences_are_not_checked_for_objections():
    evaluation = counted(weight=1.0)
    assert evaluation.objections(host('h2', 'r1')) == ()
    assert Counted.asked == []
    assert evaluation.cost(host('h2', 'r1')) == 1


def test_an_evaluation_with_new_foreign_servers_checks_again():
    group = parse_group({
        'name': 'web', 'policies': [{'type': 'exclusive', 'level': 'rack'}],
        'members': [{'name': 'a', 'resources': SMALL}],
    }, load_policy_types())
    evaluation = PolicyEvaluation(group, LEVELS, 'a', {})
    place = host('h1', 'r1')
    assert evaluation.objections(place) == ()
    (domain,) = evaluation.reserves(place)
    occupied = replace(evaluation, outside_servers={
        domain: [replace(host('h2', 'r1'), servers=1)]})
    assert occupied.objections(place) != ()
    assert evaluation.objections(place) == ()


def test_a_moving_member_keeps_others_off_its_source_and_destination():
    evaluation = replace(
        evaluate([APART], 'a', {'b': host('h2', 'r2')}),
        sources={'b': host('h1', 'r1')})
    assert evaluation.objections(host('h3', 'r1')) != ()
    assert evaluation.objections(host('h4', 'r2')) != ()
    assert evaluation.objections(host('h5', 'r3')) == ()


@pytest.mark.parametrize('rules', [
    {'policies': [{'type': 'affinity', 'level': 'rack'}]},
    {'relationships': [
        {'type': 'affinity', 'level': 'rack', 'between': ['a', 'b']}]}])
def test_members_that_are_together_follow_one_that_moves(rules):
    evaluation = replace(
        evaluate(path='a', others={'b': host('h2', 'r2')}, **rules),
        sources={'b': host('h1', 'r1')})
    assert evaluation.objections(host('h4', 'r2')) == ()
    assert evaluation.objections(host('h3', 'r1')) != ()


@dataclass(frozen=True, kw_only=True)
class Counting(AntiAffinity):
    """A policy of another package, which reads its second argument as a
    mapping from paths to hosts."""

    type: ClassVar[str] = 'counting'

    def allows_another(self, scope, placement, snapshot):
        used = {snapshot.domain(placement[member.path], self.level)
                for member in scope.members if member.path in placement}
        return lambda host: snapshot.domain(host, self.level) not in used


@dataclass(frozen=True, kw_only=True)
class ExclusiveOfOne(Exclusive):
    """A policy of another package that reserves the racks of member a only."""

    type: ClassVar[str] = 'exclusive-of-one'

    def reserves(self, scope, placement, snapshot):
        return super().reserves(scope, {
            path: host for path, host in placement.items() if path == 'a'},
            snapshot)


def evaluate_rule(rule, path, others):
    group = Group('web', tuple(MemberDescription(name, Requirements())
                               for name in 'abc'), (), (rule,))
    return PolicyEvaluation(group, LEVELS, path, others)


def test_a_policy_reads_the_hosts_of_others_by_path():
    evaluation = evaluate_rule(Counting(level='rack'), 'a',
                               {'b': host('h1', 'r1')})
    assert evaluation.objections(host('h2', 'r1'))
    assert not evaluation.objections(host('h3', 'r2'))


def test_a_policy_decides_which_domains_its_members_reserve():
    rule = ExclusiveOfOne(level='rack')
    rack = Domain('rack', ('r1',))
    beside = evaluate_rule(rule, 'a', {'b': host('h1', 'r1')})
    assert beside.reserves(host('h2', 'r1')) == {rack}
    assert not evaluate_rule(rule, 'b', {}).reserves(host('h2', 'r1'))
    joined = evaluate_rule(rule, 'b', {'a': host('h1', 'r1')})
    assert not joined.reserves(host('h2', 'r1'))
