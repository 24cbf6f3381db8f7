# SPDX-License-Identifier: Apache-2.0
"""Steps of migrations. A completed step is skipped: MariaDB keeps the
completed part of an interrupted migration, and rejects its repetition."""

from collections.abc import Mapping, Sequence

from alembic import op
import sqlalchemy as sa


def create_table(name: str, *parts: sa.schema.SchemaItem,
                 indexes: Mapping[str, Sequence[str]]) -> None:
    """Create a table and its indexes, unless they exist.

    :param indexes: columns of each index by its name
    """
    if not sa.inspect(op.get_bind()).has_table(name):
        op.create_table(name, *parts)
    for index, columns in indexes.items():
        create_index(index, name, columns)


def create_index(name: str, table: str, columns: Sequence[str],
                 unique: bool = False) -> None:
    """Create an index, unless the table has an index with this name."""
    known = sa.inspect(op.get_bind()).get_indexes(table)
    if name not in {index['name'] for index in known}:
        op.create_index(name, table, columns, unique=unique)


def add_column(table: str, column: sa.Column) -> None:
    """Add a column, unless the table has a column with this name."""
    known = sa.inspect(op.get_bind()).get_columns(table)
    if column.name not in {existing['name'] for existing in known}:
        op.add_column(table, column)
