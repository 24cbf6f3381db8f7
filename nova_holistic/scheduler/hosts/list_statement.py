# SPDX-License-Identifier: Apache-2.0
"""Statements with a list of values, for databases of Nova."""

from collections.abc import Callable, Collection
import functools
from typing import Any

import sqlalchemy as sa

from nova_holistic.table.batches import batches

FEW = 16
"""Maximum number of values in a list with one parameter for each value."""

IsIn = Callable[[sa.ColumnElement], sa.ColumnElement]
"""Returns the condition that a column has one of the values."""


class ListStatement:
    """A statement that selects the rows with one of the values in a column.

    SQLAlchemy expands a list of values in the text of the statement at each
    execution. Statements with few values have one parameter for each value
    instead, and their text is built once for each number of values.
    """

    def __init__(self, build: Callable[[IsIn], sa.SelectBase]):
        """:param build: returns the statement with the condition for each
        column whose values are selected"""
        self._of_many = build(lambda column: column.in_(
            sa.bindparam('values', expanding=True)))
        self._of_few = functools.cache(lambda number: build(
            lambda column: column.in_([sa.bindparam(_name(index))
                                       for index in range(number)])))

    @classmethod
    def of_column(cls, statement: sa.Select, column: sa.ColumnElement
                  ) -> 'ListStatement':
        """:param statement: statement without the condition for the column"""
        return cls(lambda is_in: statement.where(is_in(column)))

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
