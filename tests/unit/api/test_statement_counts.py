# SPDX-License-Identifier: Apache-2.0
"""The number of statements of a request does not grow with the table."""

import pytest

from nova_holistic.table.store import PlacementTable
from tests.statements import recorded
from tests.tables import new_table
from tests.unit.api.many_groups import create_groups, requests
from tests.unit.api.service import Service

MOST = {'show': 2, 'list, a page of 100': 2, 'list, the next page': 3,
        'list, by status': 2, 'events': 2, 'show a plan': 1,
        'placements': 3, 'create, repeated': 3}
"""The number of SQL statements of each request: one reads the group or the
page, and one its members or events. Others read the idempotency key, the
marker, or the project of the group."""
FEW, MANY = 20, 2_000
"""Numbers of groups. Half of the larger number, ten pages, belong to the
client."""


@pytest.fixture(scope='module')
def sent(tmp_path_factory):
    """The statements of each request by the number of groups."""
    found = {}
    for number in (FEW, MANY):
        directory = tmp_path_factory.mktemp(f'groups-{number}')
        table = PlacementTable(new_table(directory))
        create_groups(table, number, own=min(number, MANY // 2))
        found[number] = {}
        service = Service(table, max_groups_per_project=-1,
                          max_members_per_project=-1)
        for name, ask in requests(service).items():
            with recorded(table.database.engine) as sent:
                ask()
            found[number][name] = sent.statements
    return found


@pytest.mark.parametrize('request_name', MOST)
def test_the_number_of_statements_does_not_depend_on_the_number_of_groups(
        sent, request_name):
    few, many = sent[FEW][request_name], sent[MANY][request_name]
    assert len(few) == len(many)
    assert 0 < len(many) <= MOST[request_name]
