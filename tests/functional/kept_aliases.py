# SPDX-License-Identifier: Apache-2.0
"""Keeps the aliases of Placement's tables.

Placement creates aliases of its tables for every statement, and SQLAlchemy
copies all columns of the table for each of them. This takes a twentieth of the
processor time of a cloud in one process.
"""

import fixtures
from placement.db.sqlalchemy import models
import sqlalchemy as sa


class KeptAliases(fixtures.Fixture):
    """While it is active, ``sqlalchemy.alias`` returns the same object for
    the same table of Placement and the same name."""

    def _setUp(self):
        self._kept = {}
        self._make = sa.alias
        self.useFixture(fixtures.MonkeyPatch('sqlalchemy.alias', self.alias))

    def alias(self, selectable, name=None, flat=False):
        """The alias that ``sqlalchemy.alias`` creates."""
        if name is None or flat or not _is_table(selectable):
            return self._make(selectable, name, flat)
        key = selectable, name
        if key not in self._kept:
            made = self._make(selectable, name)
            # Copy the columns before another thread can use the alias.
            made.c.keys()
            self._kept[key] = made
        return self._kept[key]


def _is_table(selectable):
    return (isinstance(selectable, sa.Table)
            and selectable.metadata is models.BASE.metadata)
