# SPDX-License-Identifier: Apache-2.0
"""Request groups of members, in group documents and with flavors."""

from dataclasses import replace

import pytest

from nova_holistic.documents.groups.group import parse_group
from nova_holistic.exceptions import HolisticError, InvalidDocument
from nova_holistic.model.binding import bind
from nova_holistic.model.cloud.snapshot import Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor
from nova_holistic.model.request_group import ISOLATE, RequestGroup
from nova_holistic.policies import load_policy_types
from nova_holistic.table.rows import _group_values, _requirements
from tests.unit.builders import host

TYPES = load_policy_types()
PORT = {'resources': {'NET_BW_EGR_KILOBIT_PER_SEC': 1000},
        'traits': {'required': ['CUSTOM_PHYSNET1']}}
PACKETS = {'resources': {'NET_PACKET_RATE_KILOPACKET_PER_SEC': 10}}
GPU = RequestGroup('1', FrozenMapping({'VGPU': 1}))


def parsed(**member):
    return parse_group({'name': 'ports', 'members': [
        {'name': 'node', **member}]}, TYPES)


def bound(group, **flavor):
    return bind(group, Snapshot(('host',), (), flavors={
        'small': Flavor('small', 'small', FrozenMapping({'VCPU': 1}),
                        **flavor)})).members[0].requirements


def test_a_flavor_and_the_ports_of_a_member_are_planned_together():
    group = parsed(flavor='small', request_groups={
        'port': PORT, 'packets': PACKETS}, same_subtree=[['port', 'packets']])
    wanted = bound(group, request_groups=(GPU,), group_policy=ISOLATE)
    assert [each.suffix for each in wanted.request_groups] == [
        '1', 'packets', 'port']
    assert wanted.group_policy == ISOLATE
    assert wanted.same_subtree == (frozenset(['port', 'packets']),)
    assert wanted.request_groups[2].required_traits == {'CUSTOM_PHYSNET1'}


def test_a_group_of_the_member_and_one_of_the_flavor_have_different_names():
    group = parsed(flavor='small', request_groups={'1': PORT})
    with pytest.raises(HolisticError) as error:
        bound(group, request_groups=(GPU,))
    assert 'members[0].request_groups.1' in str(error.value)


@pytest.mark.parametrize('traits, required', [
    ([{'OWNER_NOVA'}, {'OWNER_NOVA'}], {'OWNER_NOVA'}),
    # One compute is older than the trait.
    ([{'OWNER_NOVA'}, set()], set())])
def test_devices_are_those_of_nova_if_all_hosts_have_the_trait(
        traits, required):
    devices = replace(GPU, suffix='_pci0_0')
    snapshot = Snapshot(('host',), tuple(
        replace(host(f'h{n}', 'r1'), traits=frozenset(each))
        for n, each in enumerate(traits)), flavors={
            'small': Flavor('small', 'small', FrozenMapping({'VCPU': 1}),
                            request_groups=(GPU, devices))})
    first, second = bind(parsed(flavor='small'), snapshot).members[
        0].requirements.request_groups
    assert (first, second.required_traits) == (GPU, required)


@pytest.mark.parametrize('member, place', [
    ({'group_policy': 'none'}, 'members[0].group_policy'),
    ({'same_subtree': [['a', 'b']]}, 'members[0].same_subtree'),
    ({'request_groups': {'a': PORT}, 'same_subtree': [['a', 'b']]},
     'members[0].same_subtree[0][1]'),
    ({'request_groups': {'a': PORT}, 'same_subtree': [['a']]},
     'members[0].same_subtree[0]'),
    ({'request_groups': {'a': PORT}, 'same_subtree': [['a', 'a']]},
     'members[0].same_subtree[0]'),
    ({'request_groups': {'a': PORT}, 'same_subtree': [['a', '']]},
     'members[0].same_subtree[0][1]'),
    ({'request_groups': {'a': PORT}, 'same_subtree': []},
     'members[0].same_subtree')])
def test_an_error_names_its_position(member, place):
    with pytest.raises(InvalidDocument) as error:
        parsed(resources={'VCPU': 1}, **member)
    assert error.value.place == place


def test_the_policy_of_a_flavor_is_not_in_the_document():
    with pytest.raises(InvalidDocument) as error:
        parsed(flavor='small', request_groups={'a': PORT},
               group_policy='isolate')
    assert error.value.place == 'members[0].group_policy'


def test_the_table_keeps_the_sets_of_groups():
    wanted = parsed(resources={'VCPU': 1}, request_groups={
        'port': PORT, 'packets': PACKETS}, same_subtree=[
            ['port', 'packets']]).members[0].requirements
    stored = {'resources': {'VCPU': 1}, 'flavor': None, 'required_traits': [],
              'forbidden_traits': [], 'availability_zone': None,
              'aggregates': [], 'location': [], **_group_values(wanted)}
    assert _requirements(stored) == wanted
