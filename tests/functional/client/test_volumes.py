# SPDX-License-Identifier: Apache-2.0
"""The command of the manual that plans volumes on a cloud."""

import json
import pathlib
import re
import shlex

from tests.functional.api.test_volumes import database, pools  # noqa: F401
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
