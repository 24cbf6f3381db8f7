# SPDX-License-Identifier: Apache-2.0
"""Steps of a query plan that read a complete table or a complete index.

SQLite: https://www.sqlite.org/eqp.html. MariaDB: the types ``ALL`` and
``index`` of EXPLAIN. PostgreSQL: a sequential scan, or a scan of an index
without a condition.
"""

import json

from tests.unit.table.filling import FILLED

TABLES = {row.__tablename__ for row in FILLED}


def full_scans(link, statement):
    """Return the steps of a query plan that read a complete table or index.

    :param link: a connection
    :param statement: Statement of ``tests.statements``
    :returns: the steps as texts
    """
    return {'sqlite': _of_sqlite, 'mysql': _of_mariadb,
            'postgresql': _of_postgresql}[link.dialect.name](link, statement)


def _of_sqlite(link, statement):
    steps = _explained(link, 'EXPLAIN QUERY PLAN', statement)
    return [step['detail'] for step in steps.mappings()
            if step['detail'].split()[0] == 'SCAN'
            and step['detail'].split()[1] in TABLES]


def _of_mariadb(link, statement):
    steps = _explained(link, 'EXPLAIN', statement)
    return [str(dict(step)) for step in steps.mappings()
            if step['table'] in TABLES and step['type'] in ('ALL', 'index')]


def _of_postgresql(link, statement):
    # A table with few rows is read completely, even if it has an index.
    link.exec_driver_sql('SET LOCAL enable_seqscan = off')
    answer = _explained(link, 'EXPLAIN (FORMAT JSON)', statement).scalar()
    (found,) = json.loads(answer) if isinstance(answer, str) else answer
    return [f'{step["Node Type"]} on {step["Relation Name"]}'
            for step in _steps(found['Plan'])
            if step.get('Relation Name') in TABLES and (
                step['Node Type'] == 'Seq Scan' or step['Node Type'] in (
                    'Index Scan', 'Index Only Scan')
                and 'Index Cond' not in step)]


def _steps(step):
    yield step
    for part in step.get('Plans', ()):
        yield from _steps(part)


def _explained(link, words, statement):
    return link.exec_driver_sql(
        f'{words} {statement.text}', statement.parameters)
