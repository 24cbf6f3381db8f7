# SPDX-License-Identifier: Apache-2.0
"""A forked command behaves like the installed script. No cloud is needed."""

from concurrent import futures
import contextlib
import os
import pathlib
import subprocess

import pytest

from tests.cloud.command_server import installed
from tools.cloud.waiting import wait_for

WAIT_SECONDS = 300
CLIENTS = 8
LISTED = ('configuration', 'show', '-f', 'json')
"""The words of a command that prints its environment and sends no request."""


def environment(**more):
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith('OS_')}
    return inherited | {'OS_AUTH_TYPE': 'none',
                        'OS_ENDPOINT': 'http://nowhere',
                        'OS_USERNAME': 'ann'} | more


@pytest.mark.parametrize('words,given', [
    (['--version'], ''), (['no', 'such', 'command'], ''),
    (['complete', '--no-such-option'], ''), (LISTED, ''),
    ([], 'command list --group openstack.cli -f value\nno such command\n')])
def test_a_forked_command_gives_the_same_output(commands, words, given):
    forked = commands(words, environment(), given, WAIT_SECONDS)
    assert forked == installed(words, environment(), given, WAIT_SECONDS)
    assert forked.stdout or forked.returncode


def test_eight_concurrent_commands_have_separate_environments(commands):
    def region(number):
        name = f'region-{number}'
        return name in commands(LISTED, environment(OS_REGION_NAME=name),
                                '', WAIT_SECONDS).stdout

    with futures.ThreadPoolExecutor(CLIENTS) as pool:
        assert all(pool.map(region, range(CLIENTS)))
    assert 'region-' not in commands(
        LISTED, environment(), '', WAIT_SECONDS).stdout


def test_a_command_that_takes_too_long_is_killed(commands, tmp_path):
    """The command reads a file that never ends."""
    never = tmp_path / 'never'
    os.mkfifo(never)
    end = os.open(never, os.O_RDWR)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            commands(['--os-cloud', 'any', *LISTED], environment(
                OS_CLIENT_CONFIG_FILE=str(never)), '', 2)
        wait_for('the end of the command',
                 lambda: holders(never) == {os.getpid()})
    finally:
        os.close(end)
    assert not commands(
        ['--version'], environment(), '', WAIT_SECONDS).returncode


def holders(file):
    """The process IDs of the processes that have a file open."""
    processes = set()
    for link in pathlib.Path('/proc').glob('[0-9]*/fd/*'):
        # A process may end or close its file in the meantime.
        with contextlib.suppress(OSError):
            if os.readlink(link) == str(file):
                processes.add(int(link.parts[2]))
    return processes
