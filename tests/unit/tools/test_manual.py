# SPDX-License-Identifier: Apache-2.0
"""The cloud uses the commands and the configuration of the manual."""

import pathlib

import pytest

from tools.cloud.holistic import Holistic
from tools.cloud.layout import Layout
from tools.cloud import manual
from tools.cloud.mariadb import MariaDB
from tools.cloud.service import WebService


class Recorded:
    """Processes that are recorded and not started."""

    def start(self, name, arguments, environment=None):
        self.arguments = [str(each) for each in arguments]

    run = start


class WebLayout:
    ports = {'holistic': 8787}


@pytest.fixture
def layout(tmp_path):
    return Layout.make(tmp_path, hosts=2)


def test_the_manual_closes_connections_and_waits_for_bodies():
    options = manual.uwsgi_options()
    assert options['add-header'] == 'Connection: close'
    assert options['socket-timeout'] == '60'
    assert options['module'] == 'nova_holistic.api.wsgi:application'
    assert options['master'] is None


def test_the_unit_of_the_api_runs_the_command_of_the_manual():
    (command,), (unit,) = (manual.commands(beginning) for beginning in (
        'uwsgi', 'ExecStart=/usr/local/bin/uwsgi'))
    assert unit[1:] == command[1:]


def test_the_cloud_serves_the_api_with_the_command_of_the_manual():
    processes = Recorded()
    WebService(WebLayout, processes).serve('holistic', {})
    words = processes.arguments
    own = {'processes', 'threads', 'http-socket', 'module'}
    for option, value in manual.uwsgi_options().items():
        at = words.index(f'--{option}')
        if value is not None and option not in own:
            assert words[at + 1] == value
    assert '127.0.0.1:8787' in words


def test_threads_remain_for_requests_that_do_not_wait(layout):
    """The configuration and the command of the manual agree."""
    processes = Recorded()
    service = Holistic(layout, processes)
    service.prepare()
    written = layout.configuration('holistic') / 'nova-holistic.conf'
    (line,) = [line for line in written.read_text().splitlines()
               if line.startswith('max_waiters = ')]
    service.start_api()
    words = processes.arguments
    threads = words[words.index('--threads') + 1]
    assert threads == manual.uwsgi_options()['threads']
    assert int(line.split()[-1]) < int(threads)


def test_the_cloud_configures_engines_as_the_manual_does(layout):
    processes = Recorded()
    service = Holistic(layout, processes)
    service.prepare()
    assert processes.arguments[-2:] == ['db', 'upgrade']
    service.start_engine('engine-1')
    assert pathlib.Path(processes.arguments[0]).name == 'nova-holistic-engine'
    written = pathlib.Path(processes.arguments[2]).read_text().splitlines()
    for line in ('username = holistic', 'user_domain_name = Default',
                 'driver = aggregates', f'auth_url = {layout.identity}',
                 f'transport_url = {layout.broker}'):
        assert line in written


def test_the_cloud_creates_the_database_as_the_manual_does(layout):
    MariaDB(layout, Recorded()).prepare()
    written = (layout.configuration('mariadb') / 'first.sql').read_text()
    assert written.splitlines()[-3:] == [
        'CREATE DATABASE IF NOT EXISTS holistic CHARACTER SET utf8mb4;',
        "CREATE USER IF NOT EXISTS 'holistic'@'%' "
        f"IDENTIFIED BY '{layout.password}';",
        "GRANT ALL PRIVILEGES ON holistic.* TO 'holistic'@'%';"]
    assert layout.database('holistic').startswith('mysql+pymysql://holistic:')


def test_a_value_of_the_manual_that_the_cloud_cannot_replace_is_an_error():
    with pytest.raises(manual.ManualChanged, match='transport_url'):
        manual.configuration('transport_url', {})


@pytest.mark.parametrize('read', [
    lambda: manual.commands('nova-holistic-engine --unknown'),
    lambda: manual.configuration('unknown_option', {})])
def test_text_that_the_manual_does_not_contain_is_an_error(read):
    with pytest.raises(manual.ManualChanged):
        read()


def test_the_scheduler_gets_each_filter_of_the_excerpt(layout):
    sections = manual.scheduler_configuration({
        'mysql+pymysql://holistic:SECRET@controller/holistic?charset=utf8mb4':
            layout.database('holistic')})
    assert sections['scheduler']['driver'] == 'holistic_scheduler'
    assert sections['filter_scheduler']['available_filters'] == [
        'nova.scheduler.filters.all_filters',
        'nova_holistic.scheduler.filters.all_filters']
    assert manual.enabled_filters()[-1] == 'HolisticGroupFilter'
