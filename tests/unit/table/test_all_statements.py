# SPDX-License-Identifier: Apache-2.0
"""No statement of the table package reads a complete table.

Every call that sends a statement is made on filled tables, and the database
explains each statement. The test fails for a new call until ``every_call.py``
makes it.
"""

import pytest
import sqlalchemy as sa

from nova_holistic.table.schema import models
from tests.statements import Statement
from tests.unit.table.call_sites import call_sites, statements_by_call_site
from tests.unit.table.every_call import call_everything
from tests.unit.table.filling import analyze, fill_all, FILLED
from tests.unit.table.full_scans import full_scans, TABLES

ROWS = 2_000
"""Number of rows of other projects in each table."""

READ_ALL = {
    'queries/totals.py totals':
        'counts groups, members and tasks once for each scrape of metrics',
    'coordination/refusals.py _selected':
        'serves commands of operators, which can ask for all refusals',
    'coordination/refusals.py clear':
        'serves commands of operators, which can ask for all refusals',
}
"""Functions that may read a complete table, and the reasons."""

READ_A_FEW = {
    'queries/listing.py groups': 'a page in the order of an index',
    'queries/consumers.py any_group': 'the first group is enough',
}
"""Functions whose statements begin to read a complete index and end after a
few rows."""

NOT_ON_SQLITE = {'queries/progress.py settle_locked'}
"""Functions with a statement that only other databases need."""


def reading_too_much(table, sent):
    """The full scans by the call that leads to them."""
    found = {}
    with table.database.engine.connect() as link:
        for site, statements in sent.items():
            for statement in statements.values():
                scans = full_scans(link, statement)
                if scans and not allowed(site.place, statement.text, scans):
                    found.setdefault(site.place, []).append(
                        (statement.text, scans))
    return found


def allowed(place, text, scans):
    if place in READ_A_FEW:
        return 'LIMIT' in text and all(of_index(each) for each in scans)
    return place in READ_ALL


def of_index(scan):
    """Return whether the step reads an index and not a table."""
    return any(sign in scan for sign in (
        'USING', "'type': 'index'", 'Index Scan', 'Index Only Scan'))


def test_no_statement_reads_a_whole_table(table):
    fill_all(table, ROWS)
    with statements_by_call_site(table.database.engine) as sent:
        call_everything(table)
    # One of the calls deletes all refusals.
    fill_all(table, ROWS, [models.RefusalRow])
    analyze(table, FILLED)
    assert tables_with_few_rows(table) == []
    assert reading_too_much(table, sent) == {}
    is_sqlite = table.database.engine.dialect.name == 'sqlite'
    assert [site for site in call_sites() if site not in sent and not (
        is_sqlite and site.place in NOT_ON_SQLITE)] == []


def tables_with_few_rows(table):
    """Tables that the calls have emptied. A database may read a table of a
    few rows completely, although it has an index."""
    with table.database.reader() as session:
        return [row.__tablename__ for row in FILLED if session.scalar(
            sa.select(sa.func.count()).select_from(row)) < ROWS / 2]


def test_exceptions_name_functions_of_the_package():
    places = {site.place for site in call_sites()}
    assert {*READ_ALL, *READ_A_FEW, *NOT_ON_SQLITE} <= places


def test_every_other_table_has_few_rows():
    """They have one row for each job of an engine, for each unavailable host,
    and for each uplink."""
    assert {*models.Base.metadata.tables} - TABLES == {
        'holistic_jobs', 'holistic_host_outages', 'holistic_links'}


@pytest.mark.parametrize('text', [
    "SELECT uuid FROM holistic_groups WHERE user_id = 'ann'",
    "SELECT id FROM holistic_members WHERE node = 'cmp-1'",
    "SELECT status FROM holistic_groups ORDER BY status",
    "UPDATE holistic_plans SET name = '' WHERE user_id = 'ann'",
    "DELETE FROM holistic_events WHERE host = 'cmp-1'",
    "DELETE FROM holistic_refusals WHERE host = 'cmp-1'",
    "SELECT member FROM holistic_actions WHERE to_host = 'cmp-1'",
    "DELETE FROM holistic_detached_servers WHERE detached_at = '2020-01-01'",
])
def test_a_full_scan_is_detected(table, text):
    with table.database.engine.connect() as link:
        assert full_scans(link, Statement(text, ()))
