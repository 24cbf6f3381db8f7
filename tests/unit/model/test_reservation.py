# SPDX-License-Identifier: Apache-2.0
"""The domains that a group reserves for the members of its exclusive parts."""

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.cloud.snapshot import Host
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.reservation import Reservation, reservations
from nova_holistic.policies import load_policy_types

LEVELS = ('rack', 'host')
H1, H2 = (Host(name, name, '', (rack,), FrozenMapping())
          for name, rack in (('h1', 'r1'), ('h2', 'r2')))


def shop(**keys):
    one = {'resources': {'VCPU': 1}}
    return parse_group({
        'name': 'shop', 'members': [{'name': 'web', **one}],
        'groups': [{
            'name': 'db', 'members': [{'name': 'node', 'count': 2, **one}],
            'policies': [{'type': 'exclusive', **keys}]}],
    }, load_policy_types())


def test_an_exclusive_subgroup_reserves_the_domains_of_its_members():
    placement = {'web': H2, 'db/node-0': H1}
    assert list(reservations(shop(level='rack'), placement, LEVELS)) == [
        Reservation(frozenset({'db/node-0', 'db/node-1'}),
                    frozenset({Domain('rack', ('r1',))}))]


def test_an_exclusive_subgroup_without_placed_members_reserves_none():
    assert list(reservations(shop(level='rack'), {'web': H2}, LEVELS)) == []


def test_a_preference_reserves_nothing():
    assert list(reservations(
        shop(weight=3), {'db/node-0': H1}, LEVELS)) == []
