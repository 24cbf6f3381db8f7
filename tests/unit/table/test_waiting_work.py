# SPDX-License-Identifier: Apache-2.0
"""The cost of an engine's search for work does not depend on groups, plans
and creations without work. Engines search every few seconds."""

import pytest

from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.table import builders
from tests.unit.table.filling import fill_all
from tests.unit.table.test_outlines import counted_steps

LONG_AGO = builders.NOON.replace(year=2020)
FEW, MANY = 50, 500

SEARCHES = {
    'tasks': lambda table: table.tasks.waiting(LONG_AGO, 4),
    'alternates': lambda table: table.due_alternates.waiting(
        LONG_AGO, LONG_AGO, 4),
    'plans': lambda table: table.plans.waiting(LONG_AGO, 4),
    'boots': lambda table: table.boots.waiting(LONG_AGO, 4),
    'volumes': lambda table: table.volumes.creations.waiting(
        LONG_AGO, LONG_AGO, 4)}


@pytest.fixture(scope='module')
def steps(tmp_path_factory):
    """The numbers of steps of SQLite of each search, by its name."""
    found = {name: [] for name in SEARCHES}
    for number in FEW, MANY:
        table = PlacementTable(new_table(tmp_path_factory.mktemp('filled')))
        fill_all(table, number)
        for name, search in SEARCHES.items():
            with counted_steps(table) as counted:
                assert search(table) == ()
            found[name] += counted
    return found


@pytest.mark.parametrize('name', SEARCHES)
def test_a_search_for_work_costs_the_same_at_50_and_at_500_rows(steps, name):
    few, many = steps[name]
    assert few == many
