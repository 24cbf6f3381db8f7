# SPDX-License-Identifier: Apache-2.0
"""nova.conf names the scheduler's driver, filters and weighers."""

from nova.scheduler import filters as nova_filters
from nova.scheduler import manager as nova_manager
from nova.scheduler import weights as nova_weights
import pytest

from nova_holistic import exceptions
from nova_holistic.scheduler import driver
from nova_holistic.scheduler import filters
from nova_holistic.scheduler import weights
from tests.unit.program_forks import Programs


def test_the_holistic_and_the_stock_driver_are_loaded_by_name():
    assert driver.load('filter_scheduler') is nova_manager.SchedulerManager
    driver_class = driver.load('holistic_scheduler')
    assert issubclass(driver_class, nova_manager.SchedulerManager)
    assert driver_class is not nova_manager.SchedulerManager


def test_an_unknown_driver_is_named_in_the_error():
    with pytest.raises(exceptions.UnknownPlugin,
                       match=r"\[scheduler\] driver 'chance_scheduler'"):
        driver.load('chance_scheduler')


def test_nova_finds_our_filters_and_weighers():
    found = nova_filters.HostFilterHandler().get_matching_classes(
        [f'{filters.__name__}.all_filters'])
    assert [cls.__name__ for cls in found] == ['HolisticGroupFilter']
    found = nova_weights.HostWeightHandler().get_matching_classes(
        [f'{weights.__name__}.all_weighers'])
    assert {cls.__name__ for cls in found} == {
        'HolisticGroupWeigher', 'HolisticStatisticsWeigher'}


@pytest.fixture(scope='module')
def programs():
    with Programs('scheduler') as programs:
        yield programs


@pytest.fixture
def start_service(programs, tmp_path):
    """A function that runs nova-holistic-scheduler until it ends."""
    def start(driver, options='', nova=None):
        config = tmp_path / 'nova.conf'
        config.write_text('[DEFAULT]\ntransport_url = fake://\n'
                          f'[scheduler]\ndriver = {driver}\n'
                          f'[oslo_concurrency]\nlock_path = {tmp_path}\n'
                          f'{options}')
        return programs.run(
            'scheduler', ['--config-file', config], tmp_path, nova)
    return start


def test_the_service_exits_with_a_message_for_an_unknown_driver(start_service):
    done = start_service('chance_scheduler')
    assert done.returncode == 2
    assert ('nova-holistic-scheduler: unknown [scheduler] driver'
            in done.stderr)
    assert 'Traceback' not in done.stderr


@pytest.mark.parametrize(('options', 'message'), [
    ('[holistic]\nfailure_mode = ignore\n',
     '[holistic]: Value for option failure_mode '),
    ('[planner]\nrefusal_lifetime = hour\n',
     '[planner]: Value for option refusal_lifetime '),
    ('[topology]\ndriver = none\n', "unknown [topology] driver 'none'; "),
    ('[topology]\nlevels = az\n',
     '[topology] levels: the last level must be host, not az'),
    ('[holds]\nproject = service\n',
     '[holds] project = service needs project_id and user_id'),
])
def test_the_service_does_not_start_with_an_invalid_option(
        start_service, options, message):
    done = start_service('holistic_scheduler', options)
    assert done.returncode == 2
    assert f'nova-holistic-scheduler: {message}' in done.stderr
    assert 'Traceback' not in done.stderr


@pytest.mark.parametrize('version', ['31.3.1', '35.0.0'])
def test_the_service_does_not_start_inside_an_unsupported_nova(
        start_service, version):
    done = start_service('holistic_scheduler', nova=version)
    assert done.returncode == 2
    assert (f'nova-holistic-scheduler: Nova {version} is not supported'
            in done.stderr)
    assert 'Traceback' not in done.stderr


def test_an_option_allows_an_unsupported_nova(start_service):
    done = start_service(
        'holistic_scheduler', nova='35.0.0',
        options='[holistic]\nallow_unsupported_nova = true\n'
                '[holistic_database]\nconnection = unknown\n')
    # The next check refuses the database.
    assert '[holistic_database] connection' in done.stderr
    assert 'Nova 35.0.0 is not supported' in done.stdout + done.stderr
    assert done.returncode == 2
