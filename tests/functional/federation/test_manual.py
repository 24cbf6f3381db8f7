# SPDX-License-Identifier: Apache-2.0
"""The two commands of the manual's page, as they are printed."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PAGE = ROOT / 'doc/source/admin/federation.rst'


def commands():
    """The words of the first two commands on the page."""
    return [shlex.split(line) for line in re.findall(
        r'^   \$ (.*)$', PAGE.read_text(), re.MULTILINE)][:2]


@pytest.fixture
def environment():
    """Environment variables with the programs of the tests' Python in
    ``PATH``."""
    return {**os.environ, 'PATH': os.pathsep.join(
        [os.path.dirname(sys.executable), os.environ['PATH']])}


@pytest.fixture
def federation(environment):
    """Run the first command during the test."""
    process = subprocess.Popen(
        commands()[0], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env=environment)
    assert process.stdout.readline().startswith('The parent is at ')
    yield
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    process.stdout.close()


@pytest.mark.usefixtures('federation')
def test_the_commands_of_the_page_place_a_group_in_two_clouds(environment):
    _, create = commands()

    def run(words):
        done = subprocess.run(
            [*words, '-f', 'json'] if '-f' not in words else words,
            capture_output=True, text=True, cwd=ROOT, env=environment,
            timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    out = run(create)
    assert re.search(r'\| status +\| planned ', out), out
    assert re.search(r'\| members +\| planned: 5 ', out), out

    listing = create[:create.index('group')] + shlex.split(
        'member list shop -c member -c cloud -c pointer')
    members = {each['member']: each for each in json.loads(run(listing))}
    clouds = {path: each['cloud'] for path, each in members.items()}
    assert len({clouds[f'web/node-{n}'] for n in range(3)}) == 1
    assert {clouds[f'db/node-{n}'] for n in range(2)} == {'ams', 'dfw'}
    assert all(each['pointer']['holistic_member'] == path
               for path, each in members.items())
