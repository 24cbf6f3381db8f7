# SPDX-License-Identifier: Apache-2.0
"""The number of rows that the SELECT statements of a call read.

SQLite does not count rows, but the steps of its virtual machine. A row of a
range of an index takes about 10 of them, and a row of the result 50. MariaDB
counts the rows that it reads from an index, a table or a temporary table,
but not those that an index condition excludes. PostgreSQL counts the rows of
each scan.
"""

import json

from tests.statements import recorded

STEPS_PER_ROW = 50


def rows_read(table, call):
    """Make a call, and then measure its SELECT statements."""
    engine = table.database.engine
    with recorded(engine) as recorder:
        call()
    count = {'sqlite': _of_sqlite, 'mysql': _of_mariadb,
             'postgresql': _of_postgresql}[engine.dialect.name]
    with engine.connect() as link:
        return sum(count(link, each) for each in recorder.sent
                   if each.text.startswith('SELECT'))


def _of_sqlite(link, statement):
    steps = 0

    def count():
        nonlocal steps
        steps += 1

    connection = link.connection.driver_connection
    connection.set_progress_handler(count, 1)
    try:
        link.exec_driver_sql(statement.text, statement.parameters).all()
    finally:
        connection.set_progress_handler(None, 0)
    return steps / STEPS_PER_ROW


def _of_mariadb(link, statement):
    link.exec_driver_sql('FLUSH STATUS')
    link.exec_driver_sql(statement.text, statement.parameters).all()
    return sum(int(number) for _, number in link.exec_driver_sql(
        "SHOW SESSION STATUS LIKE 'Handler_read%%'"))


def _of_postgresql(link, statement):
    answer = link.exec_driver_sql(
        f'EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}',
        statement.parameters).scalar()
    (found,) = json.loads(answer) if isinstance(answer, str) else answer
    return sum(
        step['Actual Loops'] * (
            step['Actual Rows'] + step.get('Rows Removed by Filter', 0)
            + step.get('Rows Removed by Index Recheck', 0))
        for step in _steps(found['Plan']) if 'Scan' in step['Node Type'])


def _steps(step):
    yield step
    for part in step.get('Plans', ()):
        yield from _steps(part)
