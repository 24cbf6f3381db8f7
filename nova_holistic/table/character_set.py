# SPDX-License-Identifier: Apache-2.0
"""MariaDB and MySQL store all of Unicode only in the character set
utf8mb4."""

import sqlalchemy as sa

from nova_holistic.table.database import Database, translate_errors

UTF8MB4 = 'utf8mb4'

_DEFAULTS = sa.text(
    'SELECT DATABASE(), @@character_set_client, @@character_set_database')
_COLUMNS = sa.text(
    'SELECT table_name, column_name FROM information_schema.columns '
    "WHERE table_schema = DATABASE() AND table_name LIKE 'holistic\\_%' "
    "AND character_set_name <> 'utf8mb4' ORDER BY 1, 2")


def problem(database: Database) -> str | None:
    """Why the database cannot store every name, and the remedy; None if it
    can, or if it is neither MariaDB nor MySQL.

    :raises TableError: the database does not respond
    """
    if database.engine.dialect.name != 'mysql':
        return None
    with translate_errors(), database.engine.connect() as connection:
        name, client, default = connection.execute(_DEFAULTS).one()
        columns = connection.execute(_COLUMNS).all()
    if client != UTF8MB4:
        found = (f'connections use the character set {client}: write '
                 'charset=utf8mb4 in [holistic_database] connection')
    elif default != UTF8MB4:
        found = (f'the default character set of the database is {default}: '
                 f'run ALTER DATABASE {name} CHARACTER SET utf8mb4')
    elif columns:
        table, column = columns[0]
        found = (f'{len(columns)} columns, for example {table}.{column}, have '
                 'another character set than utf8mb4: convert the tables as '
                 'described in the manual')
    else:
        return None
    return f'the database cannot store every character of names; {found}'
