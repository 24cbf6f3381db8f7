# SPDX-License-Identifier: Apache-2.0
"""Every time that an option allows can be subtracted from a date."""

from datetime import datetime, timedelta

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


@pytest.mark.parametrize('group', OPTIONS)
def test_a_longer_time_is_refused_at_the_start(group, tmp_path):
    (name, *_) = OPTIONS[group]
    file = tmp_path / 'nova-holistic.conf'
    file.write_text(f'[{group}]\n{name} = 99999999999\n')
    configured = cfg.ConfigOpts()
    conf.register_opts(configured)
    configured(['--config-file', str(file)])
    with pytest.raises(cfg.ConfigFileValueError,
                       match=fr'^\[{group}\]: .*{name}'):
        conf.check_values(configured)
