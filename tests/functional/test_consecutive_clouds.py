# SPDX-License-Identifier: Apache-2.0
"""One embedded cloud after another, and never two."""

from nova.conf import CONF
import pytest

from nova_holistic.embedded.cloud import EmbeddedCloud
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import EmbeddedCloudError

HOST = EmbeddedHost('only')


@pytest.mark.parametrize('turn', ['first', 'second'])
def test_each_cloud_starts_empty(start_cloud, turn):
    cloud = start_cloud([HOST], scheduler='stock')
    assert cloud.servers() == []
    assert cloud.compute.get('/flavors').json()['flavors'] == []
    cloud.create_flavor('small', 2, 2048, 10)
    server = cloud.create_server(turn, 'small')
    cloud.wait_for_status(server, 'ACTIVE')
    assert cloud.usages()['only'] == {
        'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}


def test_options_are_restored_when_the_cloud_ends(start_cloud):
    before = CONF.max_concurrent_builds
    with pytest.raises(RuntimeError, match='the end'):
        cloud = start_cloud(
            [HOST], scheduler='stock',
            options={(None, 'max_concurrent_builds'): before + 1})
        assert CONF.max_concurrent_builds == before + 1
        cloud.cleanUp()
        raise RuntimeError('the end')
    assert CONF.max_concurrent_builds == before


def test_a_second_running_cloud_is_refused(lend_cloud):
    with lend_cloud([HOST], scheduler='stock'):
        with pytest.raises(EmbeddedCloudError, match='running'):
            EmbeddedCloud([HOST], scheduler='stock').setUp()


def test_a_cloud_can_start_after_another_failed_to_start(start_cloud):
    with pytest.raises(EmbeddedCloudError, match='chance'):
        start_cloud([HOST], scheduler='chance')
    assert start_cloud([HOST], scheduler='stock').servers() == []


def test_a_cloud_logs_to_its_file_and_prints_nothing(start_cloud, capfd):
    cloud = start_cloud([HOST], scheduler='stock')
    cloud.create_flavor('small', 2, 2048, 10)
    cloud.wait_for_status(cloud.create_server('quiet', 'small'), 'ACTIVE')
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ('', '')
    with open(cloud.log_path) as log:
        assert 'nova.compute' in log.read()


@pytest.fixture
def running(lend_cloud):
    with lend_cloud([HOST]) as cloud:
        cloud.create_flavor('small', 2, 2048, 10)
        yield cloud


def test_a_running_cloud_can_switch_its_scheduler(running):
    for kind in ('stock', 'holistic', 'stock'):
        running.restart_scheduler(kind)
        manager = running.controllers.scheduler.manager
        is_holistic = kind == 'holistic'
        assert is_holistic == (
            type(manager).__name__ == 'HolisticSchedulerManager')
        filters = running.conf.filter_scheduler.enabled_filters
        assert ('HolisticGroupFilter' in filters) == is_holistic
        server = running.create_server(kind, 'small')
        running.wait_for_status(server, 'ACTIVE')
    with pytest.raises(EmbeddedCloudError, match='one of'):
        running.restart_scheduler('chance')


def test_a_plan_is_held_claimed_and_released(running):
    one = {'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 10}
    group = running.planner.create(
        {'group': {'name': 'pair', 'members': [
            {'name': 'node', 'count': 2, 'flavor': 'small'}]}},
        project_id='demo', user_id='demo').uuid
    assert list(running.consumers('only').values()) == [one, one]
    server = running.create_server(
        'node', 'small', {'group': group, 'member': 'node-0'})
    running.wait_for_status(server, 'ACTIVE')
    assert list(running.consumers('only').values()) == [one, one]
    assert server in running.consumers('only')
    running.lifecycle.release(group)
    assert running.consumers('only') == {server: one}
