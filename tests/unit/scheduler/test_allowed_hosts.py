# SPDX-License-Identifier: Apache-2.0
"""The hosts of all members are read once for all hosts that a create checks,
with the same result as a check of every host."""

import collections
from dataclasses import replace
import random

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.placed_members import PlacedMembers
from nova_holistic.policies.affinity import Affinity
from nova_holistic.policies.anti_affinity import (
    AntiAffinity, SoftAntiAffinity)
from nova_holistic.policies import load_policy_types
from nova_holistic.policies.spread import Spread
from nova_holistic.scheduler.policies.policy_evaluation import (
    Cloud, PolicyEvaluation)
from tests.effort import times

LEVELS = ('zone', 'rack', 'host')
SMALL = {'VCPU': 1}
POLICIES = (
    {'type': 'affinity', 'level': 'zone'},
    {'type': 'affinity', 'level': 'rack'},
    {'type': 'affinity', 'level': 'power'},
    {'type': 'soft-affinity', 'level': 'rack'},
    {'type': 'anti-affinity'},
    {'type': 'anti-affinity', 'max_per_domain': 2, 'level': 'rack'},
    {'type': 'anti-affinity', 'max_per_domain': '30%', 'level': 'zone'},
    {'type': 'anti-affinity', 'max_per_domain': 3, 'level': 'power'},
    {'type': 'anti-affinity', 'level': 'rack', 'weight': 2},
    {'type': 'soft-anti-affinity'},
    {'type': 'location', 'path': 'z1'},
    {'type': 'location', 'path': 'z1/r1'},
    {'type': 'location', 'path': 'z0/r0/z0-r0-h0', 'weight': 4},
    {'type': 'availability_zone', 'availability_zone': 'z1'},
    {'type': 'availability_zone', 'availability_zone': 'z0', 'weight': 0.5},
    {'type': 'exclusive'},
    {'type': 'exclusive', 'level': 'rack'},
    {'type': 'exclusive', 'level': 'power', 'weight': 3},
    {'type': 'spread', 'level': 'rack', 'max_skew': 1},
    {'type': 'spread', 'level': 'power', 'max_skew': 0, 'min_domains': 2},
    {'type': 'spread', 'level': 'host', 'max_skew': 1, 'weight': 2},
    {'type': 'spread', 'level': 'rack', 'min_domains': 3},
)


def hosts(generator):
    """Hosts; some are in no domain of a level."""
    return [
        Host(name=f'z{zone}-r{rack}-h{number}', node='', uuid='',
             location=generator.choice((
                 (f'z{zone}', f'r{rack}'), (f'z{zone}', f'r{rack}'),
                 (f'z{zone}', ''), ())),
             inventories=FrozenMapping(), availability_zone=f'z{zone}',
             labels=FrozenMapping(
                 {'power': generator.choice('AB')}
                 if generator.random() < 0.8 else {}))
        for zone in range(2) for rack in range(2) for number in range(2)]


def group(generator):
    def policies():
        return generator.sample(POLICIES, generator.randint(0, 3))

    def members(count):
        return [{'name': f'm{number}', 'resources': SMALL}
                for number in range(count)]

    return parse_group({
        'name': 'web', 'policies': policies(), 'members': members(4),
        'relationships': generator.choice(([], [
            {'type': 'anti-affinity', 'level': 'rack',
             'between': ['m0', 'db']}])),
        'groups': [{'name': 'db', 'policies': policies(),
                    'members': members(3)}]}, load_policy_types())


def evaluation(generator, places):
    found = group(generator)
    path, *others = generator.sample(
        [member.path for member in found.all_members()], 7)
    others = {other: generator.choice(places) for other in others
              if generator.random() < 0.8}
    sources = {other: generator.choice(places) for other in others
               if generator.random() < 0.1}
    cloud = generator.choice([None, Cloud(
        Snapshot(LEVELS, tuple(places)), {host.name: host
                                          for host in places})])
    outside = {domain: (replace(host, servers=1),) for host in places
               if generator.random() < 0.3
               for domain in (Domain('host', (*host.location, host.name)),)}
    return PolicyEvaluation(found, LEVELS, path, others, sources=sources,
                            cloud=cloud, outside_servers=outside)


def results(evaluation, places):
    return [(evaluation.objections(host), evaluation.cost(host))
            for host in places]


@pytest.mark.parametrize('seed', range(times(300)))
def test_each_host_has_the_objections_and_the_cost_of_a_check(
        seed, monkeypatch):
    generator = random.Random(seed)
    places = hosts(generator)
    found = evaluation(generator, places)
    fast = results(found, places)
    monkeypatch.setattr(PolicyEvaluation, '_allows', lambda *args: False)
    checked = replace(found)
    assert fast == results(checked, places)


def test_allowed_hosts_do_not_read_the_hosts_of_all_members_again(monkeypatch):
    """The planned host and the alternates of a member are such hosts."""
    checks = collections.Counter()
    for each in Affinity, AntiAffinity:
        def check(policy, *args, _check=each.check):
            checks[policy.type] += 1
            return _check(policy, *args)

        monkeypatch.setattr(each, 'check', check)
    first, *others = (Host(
        name=f'h{number}', node='', uuid='', location=('z0', 'r0'),
        inventories=FrozenMapping()) for number in range(4))
    found = PolicyEvaluation(parse_group({
        'name': 'web', 'policies': [
            {'type': 'affinity', 'level': 'zone'}, {'type': 'anti-affinity'}],
        'members': [{'name': 'm', 'count': 8, 'resources': SMALL}]},
        load_policy_types()), LEVELS, 'm-7', {'m-0': first})
    assert not any(map(found.objections, others))
    assert not checks
    assert found.objections(first)
    assert checks == {'anti-affinity': 2}


def test_a_policy_with_its_own_check_does_not_inherit_the_function():
    class Stricter(AntiAffinity):
        def check(self, scope, placement, snapshot):
            return super().check(scope, placement, snapshot)

    scope, = (each for each in parse_group({
        'name': 'web', 'members': [{'name': 'm', 'resources': SMALL}]},
        load_policy_types()).scopes())
    snapshot = Snapshot(LEVELS, ())
    placed = PlacedMembers({}, LEVELS, {})
    assert Stricter().allows_another(scope, placed, snapshot) is None
    assert AntiAffinity().allows_another(
        scope, placed, snapshot) is not None
    assert SoftAntiAffinity().allows_another(
        scope, placed, snapshot) is not None


@pytest.mark.parametrize('confining', [[], [
    {'type': 'affinity', 'level': 'zone'}]])
def test_numbers_show_where_spread_allows_another_member(
        confining, monkeypatch):
    """If the plan no longer applies, each host is checked against it."""
    places = [Host(
        name=f'z0-r{rack}-h{number}', node='', uuid='',
        location=('z0', f'r{rack}'), inventories=FrozenMapping())
        for rack in range(2) for number in range(2)]
    found = PolicyEvaluation(
        parse_group({
            'name': 'web', 'policies': [
                *confining, {'type': 'spread', 'level': 'rack',
                             'max_skew': 1}],
            'members': [{'name': 'm', 'count': 3, 'resources': SMALL}]},
            load_policy_types()), LEVELS, 'm-2',
        {'m-0': places[0], 'm-1': places[1]},
        cloud=Cloud(Snapshot(LEVELS, tuple(places)),
                    {host.name: host for host in places}))
    checks = []
    check = Spread.check
    monkeypatch.setattr(Spread, 'check', lambda policy, *args: (
        checks.append(args), check(policy, *args))[1])
    assert not found.objections(places[2])
    assert not checks
    assert found.objections(places[0])
    assert len(checks) == 2
