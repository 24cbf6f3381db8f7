# SPDX-License-Identifier: Apache-2.0
"""Policies with requirements for the host of each member, independent of other
members."""

import itertools

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.plan import Unplaceable
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, on, servers
from tests.unit.policies.encoding import cost_of
from tests.unit.solver.scenario import plan

TYPES = load_policy_types()

MIXED = cloud(
    host('a', 'az1', 'r1', availability_zone='east',
         traits=frozenset({'CUSTOM_NVME'}),
         aggregates=frozenset({'ssd', 'fast'})),
    host('b', 'az1', 'r10', availability_zone='east',
         traits=frozenset({'CUSTOM_NVME', 'CUSTOM_OLD'}),
         aggregates=frozenset({'ssd'})),
    host('c', 'az2', 'r1', availability_zone='west',
         aggregates=frozenset({'fast'})),
    host('d'), levels=('az', 'rack', 'host'))

# The keys of each policy, and the hosts above that satisfy it.
CASES = [
    ('location', {'path': 'az1'}, 'ab'),
    ('location', {'path': 'az1/r1'}, 'a'),
    ('location', {'path': 'az2/r1/c'}, 'c'),
    ('location', {'path': 'd'}, 'd'),
    ('traits', {'required': ['CUSTOM_NVME']}, 'ab'),
    ('traits', {'forbidden': ['CUSTOM_OLD']}, 'acd'),
    ('traits', {'required': ['CUSTOM_NVME'],
                'forbidden': ['CUSTOM_OLD']}, 'a'),
    ('aggregates', {'aggregates': ['ssd']}, 'ab'),
    ('aggregates', {'aggregates': ['ssd', 'fast']}, 'a'),
    ('availability_zone', {'availability_zone': 'west'}, 'c'),
]


def read(name, keys, **more):
    document = {'name': 'shop', 'policies': [{'type': name, **keys, **more}],
                'members': [{'name': 'node', 'count': 2,
                             'resources': {'VCPU': 1}}]}
    return parse_group(document, TYPES)


@pytest.mark.parametrize('name, keys, fine', CASES)
def test_check_and_encoding_agree_on_every_placement(name, keys, fine):
    hard, soft = read(name, keys), read(name, keys, weight=1)
    scope = next(hard.scopes())
    for names in itertools.product('abcd', repeat=2):
        placed = on(MIXED, **dict(zip(('node_0', 'node_1'), names)))
        wrong = sum(n not in fine for n in names)
        found = soft.policies[0].check(scope, placed, MIXED)
        assert (found.count, len(found.messages)) == (wrong, wrong)
        assert cost_of(soft.policies[0], scope, MIXED, placed) == wrong
        assert (cost_of(hard.policies[0], scope, MIXED, placed) is None) == (
            wrong > 0)


@pytest.mark.parametrize('name, keys, fine', CASES)
def test_only_a_hard_policy_limits_the_admitted_hosts(name, keys, fine):
    hard, soft = read(name, keys).policies[0], read(
        name, keys, weight=2).policies[0]
    assert [h.name for h in MIXED.hosts if hard.admits(h)] == list(fine)
    assert all(soft.admits(h) for h in MIXED.hosts)


@pytest.mark.parametrize('name, keys, fine', CASES)
def test_servers_are_planned_on_admitted_hosts(name, keys, fine):
    for name_of_host in plan(MIXED, read(name, keys)).hosts.values():
        assert name_of_host in fine


def test_a_preference_yields_to_capacity():
    full = cloud(host('a', 'r1', vcpus=1), host('b', 'r2'))
    answer = plan(full, read('location', {'path': 'r1'}, weight=4)).answer
    assert answer.preferences[0].violations == 1


def test_unplaced_members_violate_nothing():
    for name, keys, _ in CASES:
        shop = read(name, keys)
        assert shop.policies[0].check(
            next(shop.scopes()), {}, MIXED).count == 0


def test_a_policy_applies_only_below_its_group():
    east, west = (read('availability_zone', {
        'availability_zone': zone}).policies for zone in ('east', 'west'))
    shop = group(servers('bastion'), groups=[
        group(name='db', policies=east, groups=[
            group(servers('node', 2), name='log')])])
    zones = cloud(host('e', vcpus=2, availability_zone='east'),
                  host('w', vcpus=9, availability_zone='west'))
    found = plan(zones, shop).hosts
    assert found == {'bastion': 'w', 'db/log/node-0': 'e',
                     'db/log/node-1': 'e'}
    # No host is in two zones.
    both = group(groups=[group(servers('node'), name='db', policies=east)],
                 policies=west)
    assert isinstance(solve(both, zones), Unplaceable)


@pytest.mark.parametrize('name, keys, place, message', [
    ('location', {}, 'policies[0]', 'path is missing'),
    ('location', {'path': '/az1'}, 'policies[0].path', 'names from coarse'),
    ('location', {'path': ''}, 'policies[0].path', 'names from coarse'),
    ('traits', {}, 'policies[0]', 'required or forbidden is missing'),
    ('traits', {'required': []}, 'policies[0].required', 'at least one'),
    ('traits', {'required': ['nvme']}, 'policies[0].required[0]', 'capitals'),
    ('traits', {'required': ['T'], 'forbidden': ['U', 'T']},
     'policies[0].forbidden[1]', 'T is also required'),
    ('aggregates', {}, 'policies[0]', 'aggregates is missing'),
    ('aggregates', {'aggregates': 'ssd'}, 'policies[0].aggregates',
     'must be a list'),
    ('aggregates', {'aggregates': ['']}, 'policies[0].aggregates[0]',
     '1 to 255 characters'),
    ('aggregates', {'aggregates': ['ssd', 'ssd']}, 'policies[0].aggregates',
     'a list of different aggregates'),
    ('availability_zone', {}, 'policies[0]', 'availability_zone is missing'),
    ('availability_zone', {'availability_zone': ''},
     'policies[0].availability_zone', '1 to 255 characters'),
    ('availability_zone', {'availability_zone': 'z', 'level': 'az'},
     'policies[0].level', 'unknown key'),
])
def test_an_invalid_key_names_its_position(name, keys, place, message):
    with pytest.raises(InvalidDocument) as refused:
        read(name, keys)
    assert refused.value.place == place
    assert message in refused.value.message


def test_messages_name_the_unmet_requirement_of_the_host():
    placed = on(MIXED, node_0='b', node_1='d')
    said = {
        name: policy.check(scope, placed, MIXED).messages
        for name, keys, _ in CASES for shop in (read(name, keys),)
        for policy, scope in ((shop.policies[0], next(shop.scopes())),)
        if len(keys) == 1 or name == 'traits'}
    assert said['traits'] == (
        'node-0 is on host b, which has the forbidden trait CUSTOM_OLD',
        'node-1 is on host d, which lacks trait CUSTOM_NVME')
    assert said['aggregates'] == (
        'node-0 is on host b, which is not in aggregate fast',
        'node-1 is on host d, which is not in aggregate fast, ssd')
    assert said['availability_zone'] == (
        'node-0 is on host b in availability zone east, not west',
        'node-1 is on host d in availability zone none, not west')
    assert said['location'] == (
        'node-0 is on host az1/r10/b, not below d',)
