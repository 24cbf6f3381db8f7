# SPDX-License-Identifier: Apache-2.0
"""The options of oslo.messaging are checked when a service starts."""

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.messaging import transport

GETTERS = {
    'DEFAULT': transport.get_transport,
    'oslo_messaging_notifications': transport.get_notification_transport,
    'nova_notifications': transport.get_nova_notification_transport}
"""Functions by the group of the URL of their transport."""


@pytest.fixture
def configured(tmp_path):
    """A function that returns the configuration with this text in its file."""
    def configured(text):
        file = tmp_path / 'nova-holistic.conf'
        file.write_text(text)
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf(['--config-file', str(file)])
        return conf
    return configured


@pytest.mark.parametrize('get', GETTERS.values(), ids=GETTERS)
@pytest.mark.parametrize('group, option', [
    ('DEFAULT', 'executor_thread_pool_size = many'),
    ('DEFAULT', 'rpc_response_timeout = soon'),
    ('oslo_messaging_rabbit', 'rabbit_retry_interval = soon'),
    ('oslo_messaging_rabbit', 'ssl = perhaps'),
    ('oslo_messaging_notifications', 'retry = often')])
def test_an_invalid_option_is_named_with_its_group(
        configured, get, group, option):
    """Otherwise a service would start, and receive no messages."""
    name = option.partition(' ')[0]
    with pytest.raises(transport.BadTransport, match=(
            rf'^\[{group}\]: Value for option {name} .*nova-holistic\.conf')):
        get(configured(f'[{group}]\n{option}\n'))


@pytest.mark.parametrize('group', GETTERS)
def test_a_port_that_is_too_large_is_refused_without_the_password(
        configured, group):
    conf = configured(
        f'[{group}]\ntransport_url = rabbit://user:s3cret@host:56720/\n')
    GETTERS[group](conf)
    conf = configured(
        f'[{group}]\ntransport_url = rabbit://user:s3cret@host:567200/\n')
    with pytest.raises(transport.BadTransport) as caught:
        GETTERS[group](conf)
    assert str(caught.value) == f'[{group}] transport_url is not a valid URL'
