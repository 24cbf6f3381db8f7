# SPDX-License-Identifier: Apache-2.0
"""Rows of other projects cost nothing: every query finds its rows by an
index."""

import itertools

import pytest
import sqlalchemy as sa

from nova_holistic.table.queries.listing import Page, SORT_KEYS
from nova_holistic.table.queries import overview, totals
from nova_holistic.table.records import GroupStatus, Task
from nova_holistic.table.schema.models import GroupRow
from nova_holistic.table.store import PlacementTable
from tests.statements import recorded
from tests.unit.table import builders
from tests.unit.table.filling import fill

NOON = builders.NOON
ENOUGH = 1_000
"""Number of rows that MariaDB may estimate; its estimates are rough."""


@pytest.fixture(scope='module')
def filled(module_table_url):
    """A table with many rows of other projects. Tests add a few rows to it."""
    table = PlacementTable(module_table_url)
    fill(table)
    yield table
    table.database.close()


def queries(table, call):
    """The SELECT statements of a call, with their parameters."""
    with recorded(table.database.engine) as recorder:
        call()
    return [(each.text, each.parameters) for each in recorder.sent
            if each.text.startswith('SELECT')]


def whole_tables(table, statement, parameters):
    """The steps of the database's plan that read more than necessary."""
    dialect = table.database.engine.dialect.name
    words = {'sqlite': 'EXPLAIN QUERY PLAN', 'mysql': 'EXPLAIN',
             'postgresql': 'EXPLAIN'}[dialect]
    with table.database.engine.connect() as link:
        steps = link.exec_driver_sql(
            f'{words} {statement}', parameters).mappings().all()
    if dialect == 'sqlite':
        return [s['detail'] for s in steps if s['detail'].startswith('SCAN')]
    if dialect == 'mysql':
        return [dict(s) for s in steps
                if s['type'] == 'ALL' or _rows(s) > ENOUGH]
    return [s['QUERY PLAN'] for s in steps if 'Seq Scan' in s['QUERY PLAN']]


def _rows(step):
    """MariaDB appends the share of rows that a filter of another index
    passes."""
    return int(str(step['rows'] or 0).split()[0])


def calls(table, group, task):
    """The frequent queries by name."""
    page_filter = {'limit': 10, 'project_id': 'blue'}
    listing, marker = table.listing, group.uuid
    yield from {
        'a group': lambda: table.get_group(group.uuid),
        'its members': lambda: table.group_with_members(group.uuid),
        'members of servers': lambda: overview.members_of_servers(
            table.database, [marker]),
        'groups by UUID': lambda: overview.groups(
            table.database, [marker]),
        'of an instance': lambda: table.member_of_instance(marker),
        'by key': lambda: listing.by_idempotency_key('blue', 'key-1'),
        'number': lambda: listing.number('blue'),
        'members of a project': lambda: listing.number_of_members('blue'),
        'counts': lambda: listing.member_counts([group.uuid, task.uuid]),
        'paths': lambda: listing.live_paths(group.uuid),
        'tasks': lambda: table.tasks.waiting(NOON, 4),
        'expired': lambda: table.expired_groups(NOON),
        'exclusive': lambda: table.exclusive_groups(),
        'on a host': lambda: table.hosts_of_members(
            ['cmp-3'], group.uuid),
        'claim': lambda: table.claim(
            group.uuid, 'db/node', builders.new_uuid(), NOON),
        'all hosts': lambda: totals.any_group_uses_all_hosts(
            table.database),
        'plans': lambda: listing.number_of_plans('blue'),
        'by name': lambda: listing.groups(Page(**page_filter, name='shop')),
        'by status': lambda: listing.groups(Page(
            **page_filter, statuses=[GroupStatus.PLANNED])),
    }.items()
    for key, descending, after in itertools.product(
            SORT_KEYS, (False, True), (None, marker)):
        page = Page(**page_filter, sort_key=key, descending=descending,
                    marker=after)
        yield (f'page by {key}, {descending=}, {after=}',
               lambda page=page: listing.groups(page))


def test_every_query_uses_an_index(filled):
    table = filled
    group = builders.planned(table, web=None, node=3)
    task = builders.a_group(GroupStatus.PLANNING, task=Task.PLANNING)
    table.create_group(task)
    slow = {}
    for name, call in calls(table, group, task):
        asked = queries(table, call)
        assert asked, name
        for statement, parameters in asked:
            found = whole_tables(table, statement, parameters)
            if found:
                slow[name] = found
    assert slow == {}
    assert table.tasks.waiting(NOON, 4) == (task.uuid,)


def in_no_order(table, statement, parameters):
    """The steps of the database's plan that sort or read a complete table."""
    dialect = table.database.engine.dialect.name
    words = {'sqlite': 'EXPLAIN QUERY PLAN', 'mysql': 'EXPLAIN',
             'postgresql': 'EXPLAIN'}[dialect]
    with table.database.engine.connect() as link:
        steps = [str(dict(step)) for step in link.exec_driver_sql(
            f'{words} {statement}', parameters).mappings()]
    signs = {'sqlite': ('TEMP B-TREE', 'SCAN holistic_groups\''),
             'mysql': ('filesort', "'type': 'ALL'"),
             'postgresql': ('Sort', 'Seq Scan')}[dialect]
    return [step for step in steps if any(sign in step for sign in signs)]


def test_a_page_is_read_in_the_order_of_an_index(filled):
    table = filled
    group = builders.planned(table, web=None)
    slow = {}
    for key, descending, after in itertools.product(
            SORT_KEYS, (False, True), (None, group.uuid)):
        page = Page(limit=10, sort_key=key, descending=descending,
                    marker=after)
        *_, (statement, parameters) = queries(
            table, lambda page=page: table.listing.groups(page))
        found = in_no_order(table, statement, parameters)
        if found:
            slow[key, descending, after] = found
    assert slow == {}


def test_a_query_without_an_index_is_detected(filled):
    """The same check of plans detects a query that must read everything."""
    ((statement, parameters),) = queries(filled, lambda: slow_query(filled))
    assert whole_tables(filled, statement, parameters)


def test_a_page_without_index_order_is_detected(filled):
    def sorted_by_user():
        with filled.database.reader() as session:
            session.execute(sa.select(GroupRow.uuid).order_by(
                GroupRow.user_id).limit(10)).all()

    ((statement, parameters),) = queries(filled, sorted_by_user)
    assert in_no_order(filled, statement, parameters)


def slow_query(table):
    with table.database.reader() as session:
        session.execute(sa.select(GroupRow.uuid).where(
            GroupRow.user_id == 'ann')).all()
