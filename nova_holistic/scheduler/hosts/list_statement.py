# SPDX-License-Identifier: Apache-2.0
"""Statements with a list of values, for databases of Nova."""

from collections.abc import Collection
import functools
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches

FEW = 16
"""Maximum number of values in a list with one parameter for each value."""


class ListStatement:
    """A statement that selects the rows with one of the values in a column.

    SQLAlchemy expands a list of values in the text of the statement at each
    execution. Statements with few values have one parameter for each value
    instead, and their text is built once for each number of values.
    """

    def __init__(self, statement: sa.Select, column: sa.ColumnElement):
        """:param statement: statement without the condition for the column"""
        self._of_many = statement.where(
            column.in_(sa.bindparam('values', expanding=True)))
        self._of_few = functools.cache(lambda number: statement.where(
            column.in_([sa.bindparam(_name(index))
                        for index in range(number)])))

    def rows(self, link: sa.Connection, values: Collection[Any]
             ) -> list[sa.Row]:
        """The rows; one statement reads up to
        ``batches.MAX_BATCH_SIZE`` values."""
        if 0 < len(values) <= FEW:
            return link.execute(self._of_few(len(values)), {
                _name(index): value
                for index, value in enumerate(values)}).all()
        return [row for batch in batches(values) for row in link.execute(
            self._of_many, {'values': batch})]


def _name(index: int) -> str:
    return f'value_{index}'
