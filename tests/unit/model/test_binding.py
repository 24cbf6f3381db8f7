# SPDX-License-Identifier: Apache-2.0
"""A group is bound to the flavors and levels of a cloud."""

import dataclasses

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.binding import bind
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.policies import load_policy_types
from tests.unit.builders import cloud, host

SMALL = Flavor('m1.small', '42', FrozenMapping({'VCPU': 1}),
               required_traits=frozenset({'CUSTOM_NVME'}),
               forbidden_traits=frozenset({'CUSTOM_SLOW'}))
CLOUD = dataclasses.replace(
    cloud(host('a', 'r1', labels={'power_feed': 'A'})),
    flavors={'m1.small': SMALL, '42': SMALL})


def shop(flavor='m1.small', level='rack', **member):
    return parse_group({'name': 'shop', 'groups': [{
        'name': 'db',
        'members': [{'name': 'node', 'flavor': flavor, **member}],
        'policies': [{'type': 'affinity', 'level': level}]}]},
        load_policy_types())


@pytest.mark.parametrize('flavor', ['m1.small', '42'])
def test_a_flavor_is_found_by_name_and_by_id(flavor):
    bound = bind(shop(flavor, traits={'required': ['CUSTOM_GPU']}), CLOUD)
    wanted = bound.all_members()[0].requirements
    assert dict(wanted.resources) == {'VCPU': 1}
    assert wanted.required_traits == {'CUSTOM_NVME', 'CUSTOM_GPU'}
    assert wanted.forbidden_traits == {'CUSTOM_SLOW'}


def test_an_unknown_flavor_is_refused_with_its_place():
    with pytest.raises(InvalidDocument) as caught:
        bind(shop('m1.huge'), CLOUD)
    assert str(caught.value) == (
        "groups[0].members[0].flavor: unknown flavor 'm1.huge'")


def test_an_unknown_level_is_refused_with_its_place():
    with pytest.raises(InvalidDocument) as caught:
        bind(shop(level='room'), CLOUD)
    assert str(caught.value) == (
        "groups[0].policies[0].level: unknown level 'room'; known are host, "
        'power_feed, rack')


@pytest.mark.parametrize('level', ['host', 'rack', 'power_feed'])
def test_a_level_of_the_tree_and_a_label_are_known(level):
    assert bind(shop(level=level), CLOUD).groups[0].policies[0].level == level


def test_flavors_of_other_projects_are_not_suggested():
    with pytest.raises(InvalidDocument) as caught:
        bind(shop('m1.smal'), CLOUD)
    assert caught.value.message == "unknown flavor 'm1.smal'"
