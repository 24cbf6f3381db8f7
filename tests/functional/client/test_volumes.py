# SPDX-License-Identifier: Apache-2.0
"""The commands of the manual that plan volumes on a cloud."""

import json
import pathlib
import re
import shlex

from tests.functional.api.storage import pools  # noqa: F401
from tests.functional.api.test_volumes import database
from tests.unit.api.service import ADMIN

ROOT = pathlib.Path(__file__).parents[3]


def test_the_manual_plans_volumes_on_the_cloud(
        terminal, pools, written):  # noqa: F811
    page = (ROOT / 'doc/source/user/volumes.rst').read_text()
    (command,) = re.findall(
        r'^    openstack (holistic plan .*)$', page, re.MULTILINE)
    words = [str(written(database(), 'volumes.yaml'))
             if word == 'volumes.yaml' else word
             for word in shlex.split(command)]
    output = terminal.openstack(*words, '-f', 'json', user=ADMIN)
    assert (output.code, output.err) == (0, '')
    assert 'array@' in json.dumps(json.loads(output.out)['placements'])


def test_the_members_of_a_group_are_listed_with_its_volumes(
        terminal, pools, written):  # noqa: F811
    def read(*words):
        output = terminal.openstack('holistic', *words, '-f', 'json',
                                    user=ADMIN)
        assert (output.code, output.err) == (0, '')
        return json.loads(output.out)

    document = str(written(database(), 'volumes.yaml'))
    assert read('group', 'create', '-f', document, '--wait')[
        'status'] == 'planned'
    rows = {row['member']: row for row in read('member', 'list', 'db')}
    assert rows['data-0']['pool'].startswith('array@')
    assert (rows['data-1']['size'], rows['data-1']['volume_type']) == (
        30, 'fast')
    assert rows['server-0']['host'] and rows['server-0']['pool'] is None
