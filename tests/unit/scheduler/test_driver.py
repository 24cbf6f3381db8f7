# SPDX-License-Identifier: Apache-2.0
"""nova.conf names the scheduler's driver, filters and weighers."""

import subprocess
import sys

from nova.scheduler import filters as nova_filters
from nova.scheduler import manager as nova_manager
from nova.scheduler import weights as nova_weights
import pytest

from nova_holistic import exceptions
from nova_holistic.scheduler import driver
from nova_holistic.scheduler import filters
from nova_holistic.scheduler import weights


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


def start_service(directory, *, driver, before='', options=''):
    """Run nova-holistic-scheduler until it ends.

    :param before: statements that run after the imports
    """
    config = directory / 'nova.conf'
    config.write_text('[DEFAULT]\ntransport_url = fake://\n'
                      f'[scheduler]\ndriver = {driver}\n'
                      f'[oslo_concurrency]\nlock_path = {directory}\n'
                      f'{options}')
    return subprocess.run(
        [sys.executable, '-c',
         'import sys\n'
         'from nova_holistic.cli.scheduler import main\n'
         f'{before}\n'
         'sys.exit(main())\n', '--config-file', str(config)],
        capture_output=True, text=True, timeout=300)


def test_the_service_exits_with_a_message_for_an_unknown_driver(tmp_path):
    done = start_service(tmp_path, driver='chance_scheduler')
    assert done.returncode == 2
    assert ('nova-holistic-scheduler: unknown [scheduler] driver'
            in done.stderr)
    assert 'Traceback' not in done.stderr


@pytest.mark.parametrize('version', ['31.3.1', '35.0.0'])
def test_the_service_does_not_start_inside_an_unsupported_nova(
        tmp_path, version):
    done = start_service(
        tmp_path, driver='holistic_scheduler',
        before='from nova import version\n'
               f'version.version_string = lambda: {version!r}')
    assert done.returncode == 2
    assert (f'nova-holistic-scheduler: Nova {version} is not supported'
            in done.stderr)
    assert 'Traceback' not in done.stderr


def test_an_option_allows_an_unsupported_nova(tmp_path):
    done = start_service(
        tmp_path, driver='holistic_scheduler',
        before='from nova import version\n'
               'version.version_string = lambda: "35.0.0"',
        options='[holistic]\nallow_unsupported_nova = true\n'
                '[holistic_database]\nconnection = unknown\n')
    # The next check refuses the database.
    assert '[holistic_database] connection' in done.stderr
    assert 'Nova 35.0.0 is not supported' in done.stdout + done.stderr
    assert done.returncode == 2
