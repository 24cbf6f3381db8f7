# SPDX-License-Identifier: Apache-2.0
"""A flavor, an image or a server group is deleted while a group has members
with it, as Nova allows. The group can still be changed, and its other members
are planned again."""

import uuid

import pytest

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.table.records import GroupStatus, MemberState
from tests.functional.engine.member_losses import lose
from tests.functional.engine.updates import ask

FAST = 'CUSTOM_FAST'
HOSTS = tuple(EmbeddedHost(f'cmp-{number}', zone='az1', rack='r1',
                           traits=(FAST,) if number < 3 else ())
              for number in range(4))
OTHER = {'name': 'other', 'flavor': 'small'}


@pytest.fixture(scope='module')
def running(lend_cloud):
    with lend_cloud(HOSTS) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


@pytest.fixture
def cloud(running):
    running.now = running.clock()
    yield running
    running.clear()


def document(*members):
    return {'name': 'shop', 'members': [*members], 'policies': [
        {'type': 'anti-affinity', 'level': 'host'}]}


def create(cloud, *members):
    record = cloud.planner.create(
        document(*members), project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.PLANNED, record.reasons
    return record


def update(cloud, group, *members, **keys):
    """The messages of the reasons against an update; empty if the group has
    the new members."""
    ask(cloud, group, {**document(*members), **keys})
    cloud.planner.perform(cloud.table.tasks.take(
        group.uuid, str(uuid.uuid4()), cloud.clock(), cloud.clock()))
    return [reason['message']
            for reason in cloud.table.get_group(group.uuid).reasons]


def rows(cloud, group):
    return {row.member.path: row for row in cloud.table.members(group.uuid)}


def replanned(cloud, group, path):
    """The row of a member that was lost and planned again."""
    lose(cloud, group, path)
    assert cloud.planner.replan(group.uuid).reasons == ()
    row = rows(cloud, group)[path]
    assert row.state == MemberState.PLANNED and row.held
    return row


@pytest.fixture
def without_flavor(cloud):
    """A group after the flavor of its member a was deleted. The server of a-0
    exists."""
    flavor = cloud.create_flavor('gone', 4, 4096, 20)
    group = create(cloud, {'name': 'a', 'flavor': 'gone', 'count': 2}, OTHER)
    cloud.wait_for_status(cloud.create_server('server', 'gone', {
        'group': group.uuid, 'member': 'a-0'}), 'ACTIVE')
    cloud.compute.delete(f'/flavors/{flavor}')
    cloud.inventory.invalidate()
    return group


def test_another_member_is_planned_again(cloud, without_flavor):
    row = replanned(cloud, without_flavor, 'other')
    assert row.place.host not in {
        row.place.host for path, row in rows(cloud, without_flavor).items()
        if path != 'other'}


def test_a_member_keeps_the_amounts_of_its_deleted_flavor(
        cloud, without_flavor):
    resources = replanned(
        cloud, without_flavor, 'a-1').member.requirements.resources
    assert resources == {'VCPU': 4, 'MEMORY_MB': 4096, 'DISK_GB': 20}


def test_members_are_added_and_removed(cloud, without_flavor):
    before = rows(cloud, without_flavor)
    assert update(cloud, without_flavor, {
        'name': 'a', 'flavor': 'gone', 'count': 1}, OTHER, {
            'name': 'new', 'flavor': 'small'}) == []
    after = rows(cloud, without_flavor)
    assert after.keys() == {'a-0', 'other', 'new'}
    assert after['a-0'].place == before['a-0'].place


def test_a_new_member_of_a_deleted_flavor_is_refused(cloud, without_flavor):
    assert update(cloud, without_flavor, {
        'name': 'a', 'flavor': 'gone', 'count': 3}, OTHER) == [
            "unknown flavor 'gone'"]
    assert rows(cloud, without_flavor).keys() == {'a-0', 'a-1', 'other'}


def test_a_root_volume_stays_out_of_the_amounts(cloud):
    flavor = cloud.create_flavor('gone', 1, 1024, 20)
    group = create(cloud, {'name': 'a', 'flavor': 'gone'}, {
        'name': 'b', 'flavor': 'gone', 'boot_from_volume': True})
    cloud.compute.delete(f'/flavors/{flavor}')
    cloud.inventory.invalidate()
    assert 'DISK_GB' not in replanned(
        cloud, group, 'b').member.requirements.resources
    assert replanned(cloud, group, 'a').member.requirements.resources[
        'DISK_GB'] == 20


def test_a_member_keeps_the_traits_of_its_deleted_image(cloud):
    image = cloud.image.create('fast-image', {f'trait:{FAST}': 'required'})
    group = create(cloud, {
        'name': 'a', 'flavor': 'small', 'image': 'fast-image'}, OTHER)
    cloud.image.delete(image)
    replanned(cloud, group, 'other')
    row = replanned(cloud, group, 'a')
    assert row.member.requirements.required_traits == {FAST}
    assert update(cloud, group, *(
        {'name': name, 'flavor': 'small', 'image': 'fast-image'}
        for name in ('a', 'b'))) == ["unknown image 'fast-image'"]


def test_a_deleted_server_group_has_no_effect(cloud):
    server_group = cloud.create_server_group('apart', 'anti-affinity')
    group = create(cloud, {
        'name': 'a', 'flavor': 'small', 'server_group': server_group}, OTHER)
    cloud.compute_for().delete(f'/os-server-groups/{server_group}')
    replanned(cloud, group, 'other')
    replanned(cloud, group, 'a')
    assert update(cloud, group, *(
        {'name': name, 'flavor': 'small', 'server_group': server_group}
        for name in ('a', 'b'))) == [f'unknown server group {server_group}']


def elastic(**keys):
    """A nested group without a replica, with a member of the flavor gone."""
    return {'name': 'more', 'count': {'min': 0, 'desired': 0, 'max': 2},
            'members': [{'name': 'node', 'flavor': 'gone', **keys}]}


@pytest.fixture
def with_unused(cloud):
    """A group after the deletion of the flavor of its member a and of an
    unused nested group."""
    flavor = cloud.create_flavor('gone', 4, 4096, 20)
    record = cloud.planner.create({**document(
        {'name': 'a', 'flavor': 'gone'}, OTHER), 'groups': [elastic()]},
        project_id=PROJECT, user_id=USER)
    assert record.status == GroupStatus.PLANNED, record.reasons
    cloud.compute.delete(f'/flavors/{flavor}')
    cloud.inventory.invalidate()
    return record


def test_an_unused_group_of_a_deleted_flavor_does_not_prevent_updates(
        cloud, with_unused):
    assert update(cloud, with_unused, {'name': 'a', 'flavor': 'gone'}, {
        'name': 'new', 'flavor': 'small'}, groups=[elastic()]) == []
    assert rows(cloud, with_unused).keys() == {'a', 'new'}


@pytest.mark.parametrize('changed', [
    elastic(count=2), {**elastic(), 'name': 'others'},
    {**elastic(), 'count': {'min': 1, 'desired': 1, 'max': 2}}],
    ids=['changed', 'renamed', 'used'])
def test_a_changed_group_of_a_deleted_flavor_is_refused(
        cloud, with_unused, changed):
    messages = update(cloud, with_unused, {'name': 'a', 'flavor': 'gone'},
                      OTHER, groups=[changed])
    assert set(messages) == {"unknown flavor 'gone'"}
    assert rows(cloud, with_unused).keys() == {'a', 'other'}
