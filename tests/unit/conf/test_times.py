# SPDX-License-Identifier: Apache-2.0
"""Every time that an option allows can be subtracted from a date, and numbers
are finite, not empty, and consistent."""

from datetime import datetime, timedelta
import re

from oslo_config import cfg
import pytest

from nova_holistic import conf

NOW = datetime(2030, 1, 1)
OPTIONS = {
    'engine': ('plan_retention', 'event_retention', 'statistics_max_age'),
    'planner': ('lease', 'refusal_lifetime'),
    'reconciler': ('grace', 'build_timeout', 'host_grace', 'drift_interval'),
    'holistic_api': ('max_lease',), 'boot': ('trust_lifetime',),
    'federation': ('commit_lease',)}


def _options():
    for module in conf.MODULES:
        for group, options in module.list_opts():
            for option in options:
                if option.dest in OPTIONS.get(group.name, ()):
                    yield pytest.param(
                        option, id=f'{group.name}.{option.dest}')


@pytest.mark.parametrize('option', _options())
def test_the_longest_time_is_no_error(option):
    """An operator may set a large number to disable a timeout."""
    longest = option.type.max
    time = (timedelta(days=longest) if option.help.startswith('Days')
            else timedelta(seconds=longest))
    assert NOW - time < NOW < NOW + time


@pytest.fixture
def refusal(tmp_path):
    """A function that returns the error of an option with this value."""
    def refusal(group, name, value):
        file = tmp_path / 'nova-holistic.conf'
        file.write_text(f'[{group}]\n{name} = {value}\n')
        configured = cfg.ConfigOpts()
        conf.register_opts(configured)
        configured(['--config-file', str(file)])
        with pytest.raises(cfg.ConfigFileValueError) as caught:
            conf.check_values(configured)
        return str(caught.value)
    return refusal


@pytest.mark.parametrize('group', OPTIONS)
def test_a_longer_time_is_refused_at_the_start(group, refusal):
    (name, *_) = OPTIONS[group]
    assert re.match(fr'\[{group}\]: .*{name}', refusal(
        group, name, 99999999999))


@pytest.mark.parametrize('value', ['nan', 'inf', '-inf'])
@pytest.mark.parametrize('group, name', [
    (group.name, option.dest) for module in conf.MODULES
    for group, options in module.list_opts() for option in options
    if isinstance(option, cfg.FloatOpt)])
def test_a_number_is_finite(group, name, value, refusal):
    assert re.match(fr'\[{group}\]: .*{name}', refusal(group, name, value))


@pytest.mark.parametrize('group, name', [
    (group.name, option.dest) for module in conf.MODULES
    for group, options in module.list_opts() for option in options
    if isinstance(option, cfg.IntOpt | cfg.FloatOpt)
    and option.default is not None])
def test_a_number_is_not_empty(group, name, refusal):
    assert refusal(group, name, '') == (
        f'[{group}]: Value for option {name} is not valid: it is empty')


def test_a_pool_of_connections_without_room_is_refused(refusal):
    """-1 means no limit. SQLAlchemy accepts smaller numbers."""
    assert re.match(r'\[holistic_database\]: .*max_overflow', refusal(
        'holistic_database', 'max_overflow', -2))


@pytest.mark.parametrize('interval', [60, 61])
def test_engines_write_heartbeats_before_they_count_as_failed(
        interval, refusal):
    """Otherwise other engines may take the tasks of an engine that works."""
    assert refusal('engine', 'heartbeat', interval) == (
        '[engine]: Value for option stale_after is not valid: 60.0 is not '
        f'greater than heartbeat, which is {interval}.0')


def test_a_reference_to_an_unknown_option_names_the_option(refusal):
    assert re.match(r'\[engine\]: .*option heartbeat .*no such option nothing',
                    refusal('engine', 'heartbeat', '$nothing'))
