# SPDX-License-Identifier: Apache-2.0
"""Device profiles, and the request groups of flavors that use them."""

import json

import pytest

from nova_holistic.inventory.nova.device_profiles import (
    DeviceProfiles, InvalidProfile)

FPGA = {'name': 'fpga', 'uuid': 'x', 'groups': [
    {'resources:FPGA': '2', 'trait:CUSTOM_FAST': 'required',
     'trait:CUSTOM_OLD': 'forbidden', 'accel:bitstream_id': '7'},
    {'resources:CUSTOM_X': 1}]}


def test_each_group_of_a_profile_is_a_group():
    profiles = DeviceProfiles.from_conf([json.dumps(FPGA)])
    first, second = profiles.request_groups(
        {'accel:device_profile': 'fpga'})
    assert (first.suffix, dict(first.resources)) == (
        'device_profile_0', {'FPGA': 2})
    assert (first.required_traits, first.forbidden_traits) == (
        {'CUSTOM_FAST'}, {'CUSTOM_OLD'})
    assert (second.suffix, dict(second.resources)) == (
        'device_profile_1', {'CUSTOM_X': 1})
    assert profiles.request_groups({}) == ()
    assert profiles.unplannable_reason({}) == ''


def test_an_unknown_profile_has_an_objection():
    assert 'profile gpu is not in' in DeviceProfiles().unplannable_reason(
        {'accel:device_profile': 'gpu'})


@pytest.mark.parametrize('value, reason', [
    ('{', 'not JSON'), ('[]', 'object'), ('{"groups": []}', 'name'),
    ('{"name": "x"}', 'groups'), ('{"name": "x", "groups": []}', 'groups'),
    ('{"name": "x", "groups": [1]}', 'groups'),
    ('{"name": "x", "groups": [{}]}', r'groups.0. requests no resources'),
    ('{"name": "x", "groups": [{"resources:FPGA": "two"}]}',
     r'groups.0.: resources:FPGA'),
    (json.dumps(FPGA), 'twice')])
def test_an_invalid_profile_is_named_by_its_position(value, reason):
    with pytest.raises(InvalidProfile, match=f'value 2: .*{reason}'):
        DeviceProfiles.from_conf([json.dumps(FPGA), value])
