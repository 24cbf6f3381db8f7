# SPDX-License-Identifier: Apache-2.0
"""Users do not read how many hosts and domains the cloud has."""

import pathlib
import re

import pytest

from nova_holistic.api.views.reasons import visible_reasons
from nova_holistic.documents.group import parse_group
from nova_holistic.documents.inventory import parse_inventory
from nova_holistic.documents.text import load
from nova_holistic.model.binding import bind
from nova_holistic.model.messages.name_detection import mark_names
from nova_holistic.policies import load_policy_types
from nova_holistic.solver.solve import solve

DATA = pathlib.Path(__file__).parents[2] / 'data'
CASES = sorted((DATA / 'unplaceable').glob('*.yaml'))


@pytest.mark.parametrize('message, read', [
    ('needs 21 racks; there are 20', 'needs 21 racks; there are too few'),
    ('1 of 20 hosts is in location x', 'part of the hosts is in location x'),
    ('leaves none of 12 enabled hosts', 'leaves none of the enabled hosts'),
    ('none of these 6 has trait X', 'none of these has trait X'),
    ('needs 4 racks; 3 racks have room for VCPU 8',
     'needs 4 racks; 3 racks have room for VCPU 8'),
    ('needs 3 racks; there are 2 members',
     'needs 3 racks; there are 2 members')])
def test_totals_are_left_out_for_users_only(message, read):
    reason = {'at': 'web', 'message': message, 'names': [], 'hidden': []}
    assert visible_reasons([reason],
                           hosts=False) == [{'at': 'web', 'message': read}]
    assert visible_reasons([reason],
                           hosts=True) == [{'at': 'web', 'message': message}]


@pytest.mark.parametrize('case', CASES, ids=lambda path: path.stem)
def test_no_reason_has_the_number_of_hosts_or_racks(case):
    document = load(case.read_text())
    inventory = document['inventory']
    snapshot = parse_inventory(
        load((DATA / f'{inventory}.yaml').read_text())
        if isinstance(inventory, str) else inventory)
    group = bind(parse_group(document['group'], load_policy_types()),
                 snapshot)
    answer = solve(group, snapshot)
    rows = [reason.to_row() for reason in mark_names(answer.reasons, snapshot)]
    for each in visible_reasons(rows, hosts=False):
        for total in (len(snapshot.hosts), 6):
            assert not re.search(
                rf'\bof {total}\b|\bare {total}(?! member)|'
                rf'\bthese {total}\b|has {total}$', each['message'])
