# SPDX-License-Identifier: Apache-2.0
"""The insertion of one member agrees with a check of every host."""

from dataclasses import dataclass, replace
import random

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.policy import Violations
from nova_holistic.objectives import load_objective
from nova_holistic.policies.anti_affinity import AntiAffinity
from nova_holistic.solver.check import fits
from nova_holistic.solver.construct.hosts_for_member import (
    hosts_for_member, Insertion)
from tests.unit.builders import cloud, group, host, on, servers, two_racks
from tests.unit.solver.strategies import OBJECTIVES, seeded


def insertion(wanted, path, placed, snapshot):
    """Return the question for the member with the path.

    :param placed: path to host of the placed members
    """
    (member,) = [m for m in wanted.all_members() if m.path == path]
    return Insertion(wanted, member, placed, snapshot,
                     {each.name for each in snapshot.hosts})


def hosts(question, objective='spread'):
    return hosts_for_member(question, load_objective(objective))


def test_it_keeps_hard_policies():
    snapshot = two_racks()
    wanted = group(servers('web', 3), policies=[AntiAffinity()])
    placed = on(snapshot, web_0='r1h1', web_1='r2h2')
    assert hosts(insertion(wanted, 'web-2', placed, snapshot)) == (
        'r1h2', 'r2h1')


def test_fewest_violations_come_before_the_objective():
    snapshot = cloud(host('a', 'r1'), host('b', 'r1'), host(
        'c', 'r2', inventories={'VCPU': Inventory(16, used=8)}))
    wanted = group(servers('web', 2), policies=[
        AntiAffinity(level='rack', weight=1.0)])
    question = insertion(wanted, 'web-1', on(snapshot, web_0='a'), snapshot)
    assert hosts(question) == ('c', 'a', 'b')


@pytest.mark.parametrize('objective, order', [
    ('spread', ('b', 'a', 'c')), ('stack', ('a', 'c', 'b')),
    ('fewest-hosts', ('a', 'b', 'c'))])
def test_the_objective_orders_hosts(objective, order):
    snapshot = cloud(*(
        host(name, 'r1', inventories={'VCPU': Inventory(16, used=used)})
        for name, used in (('a', 4), ('b', 0), ('c', 12))))
    wanted = group(servers('web', 2))
    question = insertion(wanted, 'web-1', on(snapshot, web_0='a'), snapshot)
    assert hosts(question, objective) == order


def test_hosts_that_cannot_take_the_member_are_left_out():
    snapshot = cloud(
        host('disabled', 'r1', enabled=False), host('small', 'r1', vcpus=1),
        host('full', 'r1', inventories={'VCPU': Inventory(16, used=15)}),
        host('elsewhere', 'r2'), host('good', 'r1'), host('other', 'r1'))
    wanted = group(servers('web', vcpus=2, location=('r1',)))
    question = insertion(wanted, 'web', {}, snapshot)
    assert hosts(question) == ('good', 'other')
    assert hosts(replace(question, candidates={'other', 'full'})) == (
        'other',)


def test_violations_of_other_members_do_not_count():
    snapshot = two_racks()
    wanted = group(servers('web', 3), policies=[AntiAffinity()])
    placed = on(snapshot, web_0='r1h1', web_1='r1h1')
    assert hosts(insertion(wanted, 'web-2', placed, snapshot)) == (
        'r1h2', 'r2h1', 'r2h2')


def test_a_policy_is_checked_once_for_hosts_that_it_treats_equally(
        monkeypatch):
    snapshot = cloud(*(host(f'h{number}', f'r{number % 4}')
                       for number in range(400)))
    wanted = group(servers('web', 3), policies=[AntiAffinity(level='rack')])
    calls = []
    check = AntiAffinity.check
    monkeypatch.setattr(AntiAffinity, 'check', lambda *arguments: (
        calls.append(1), check(*arguments))[1])
    placed = on(snapshot, web_0='h0', web_1='h1')
    found = hosts(insertion(wanted, 'web-2', placed, snapshot))
    assert len(found) == 200
    # The two racks with members need a check each, the two racks without
    # members share one, and one check covers the placement without the member.
    assert len(calls) == 4


@dataclass(frozen=True, kw_only=True)
class _NotOnTheFirstHost(AntiAffinity):
    """Its check depends on more than the declaration of its base class."""

    def check(self, scope, placement, snapshot):
        return Violations(sum(
            placed.name == 'h0' for placed in placement.values()))


def test_a_subclass_with_its_own_check_is_checked_on_each_host():
    snapshot = cloud(*(host(f'h{n}', 'r1') for n in range(3)))
    wanted = group(servers('web'), policies=[
        _NotOnTheFirstHost(level='rack')])
    assert hosts(insertion(wanted, 'web', {}, snapshot)) == ('h1', 'h2')


@pytest.mark.parametrize('seed', range(300))
def test_it_agrees_with_a_check_of_every_host(seed):
    wanted, snapshot = seeded(seed, hosts=7, members=5).read()
    chance = random.Random(seed)
    members = wanted.all_members()
    path = chance.choice(members).path
    placed = {m.path: chance.choice(snapshot.hosts) for m in members
              if m.path != path and chance.random() < 0.9}
    question = insertion(wanted, path, placed, snapshot)
    objective = chance.choice(OBJECTIVES)
    found = hosts(question, objective)
    every = {each.name: each for each in snapshot.hosts}
    costs = {name: violations(question, each)
             for name, each in every.items()}
    assert set(found) == {name for name in every if costs[name] is not None
                          and fits(question.member, every[name])}
    keys = [(costs[name], value(question, every[name], objective))
            for name in found]
    assert keys == sorted(keys)


def violations(question, candidate):
    """Return the weighted violations that the member adds, or None if it
    violates a hard rule."""
    total = 0.0
    for scope in question.group.scopes():
        for policy in scope.group.rules:
            without, there = (
                policy.check(scope, placement, question.snapshot).count
                for placement in (question.placed, {
                    **question.placed, question.member.path: candidate}))
            if scope.holds(question.member):
                if policy.hard and there > without:
                    return None
                total += (policy.weight or 0) * (there - without)
    return round(total, 9)


def value(question, candidate, objective):
    members = [m for m in question.group.all_members()
               if m.path in question.placed or m.path == question.member.path]
    return round(load_objective(objective).for_group(question.group).value(
        members, {**question.placed, question.member.path: candidate},
        {path: each.name for path, each in question.placed.items()},
        question.snapshot), 9)
