# SPDX-License-Identifier: Apache-2.0
"""The contents of a picture: the members and the load of each host."""

from nova_holistic import exceptions
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.picture.scene import Load, scene
import pytest
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.picture.builders import plan


def view(picture, name):
    return next(v for v in picture.hosts if v.host.name == name)


def test_each_host_lists_its_members():
    snapshot = two_racks()
    picture = scene(snapshot, plan(
        snapshot, {'web/a': 'r1h1', 'db/b': 'r1h1', 'web/c': 'r2h2'}))
    assert view(picture, 'r1h1').members == ('web/a', 'db/b')
    assert view(picture, 'r1h1').groups() == {'db': 1, 'web': 1}
    assert view(picture, 'r1h2').members == ()
    assert picture.groups() == {'db': 1, 'web': 2}


def test_members_of_the_top_level_group_have_the_empty_path():
    snapshot = two_racks()
    picture = scene(snapshot, plan(snapshot, {'a': 'r1h1'}))
    assert picture.groups() == {'': 1}


def test_load_has_existing_usage_and_usage_of_the_plan():
    snapshot = cloud(host('h1', 'r1', inventories={
        'VCPU': Inventory(total=8, allocation_ratio=2.0, used=3)}))
    picture = scene(snapshot, plan(snapshot, {'s-0': 'h1', 's-1': 'h1'}),
                    group(servers('s', count=2, vcpus=5)))
    assert view(picture, 'h1').loads == (Load('VCPU', 16, 3, 10),)
    assert picture.complete


def test_usage_of_placed_members_is_not_counted_twice():
    snapshot = two_racks()
    picture = scene(snapshot, plan(snapshot, {'s-0': 'r1h1', 's-1': 'r1h1'}),
                    group(servers('s', count=2, vcpus=5)), placed={'s-0'})
    assert view(picture, 'r1h1').loads == (Load('VCPU', 16, 0, 5),)


def test_without_the_group_the_plan_adds_no_load():
    snapshot = two_racks()
    picture = scene(snapshot, plan(snapshot, {'s': 'r1h1'}))
    assert view(picture, 'r1h1').loads == (Load('VCPU', 16, 0, 0),)
    assert not picture.complete


def test_the_tightest_load_has_the_largest_share():
    snapshot = cloud(host('h1', 'r1', inventories={
        'VCPU': Inventory(total=100, used=50),
        'DISK_GB': Inventory(total=10, used=9)}))
    picture = scene(snapshot, plan(snapshot, {}))
    assert view(picture, 'h1').tightest == Load('DISK_GB', 10, 9, 0)


def test_a_class_without_capacity_has_no_load():
    snapshot = cloud(host('h1', 'r1', inventories={
        'VCPU': Inventory(total=2, reserved=2)}))
    picture = scene(snapshot, plan(snapshot, {}))
    assert view(picture, 'h1').loads == ()
    assert view(picture, 'h1').tightest is None


def test_usual_resource_classes_come_first():
    snapshot = cloud(host('h1', 'r1', inventories={
        name: Inventory(total=4)
        for name in ('CUSTOM_B', 'DISK_GB', 'CUSTOM_A', 'VCPU')}))
    assert scene(snapshot, plan(snapshot, {})).classes() == (
        'VCPU', 'DISK_GB', 'CUSTOM_A', 'CUSTOM_B')


def test_a_host_missing_from_the_inventory_is_refused():
    snapshot = two_racks()
    with pytest.raises(exceptions.InvalidDocument) as refusal:
        scene(snapshot, plan(snapshot, {'a': 'r1h1', 'b': 'gone'}))
    assert refusal.value.place == 'placements[1].host'
    assert "'gone'" in refusal.value.message
