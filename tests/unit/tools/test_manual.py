# SPDX-License-Identifier: Apache-2.0
"""The cloud serves the API with the command of the manual."""

from tools.cloud import manual
from tools.cloud.service import WebService


class Recorded:
    """Processes that are not started."""

    def start(self, name, arguments, environment=None):
        self.arguments = [str(each) for each in arguments]


class Layout:
    ports = {'holistic': 8787}


def test_the_manual_closes_connections_and_waits_for_bodies():
    options = manual.uwsgi_options()
    assert options['add-header'] == 'Connection: close'
    assert options['socket-timeout'] == '60'
    assert options['module'] == 'nova_holistic.api.wsgi:application'
    assert options['master'] is None


def test_the_cloud_takes_the_command_of_the_manual():
    processes = Recorded()
    WebService(Layout, processes).serve('holistic', {})
    words = processes.arguments
    own = {'processes', 'threads', 'http-socket', 'module'}
    for option, value in manual.uwsgi_options().items():
        at = words.index(f'--{option}')
        if value is not None and option not in own:
            assert words[at + 1] == value
    assert '127.0.0.1:8787' in words
