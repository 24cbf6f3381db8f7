# SPDX-License-Identifier: Apache-2.0
"""Removes work that Placement repeats for each request. It needs no Nova."""

import fixtures

from tests.functional.checked_schemas import CheckedSchemas
from tests.functional.kept_aliases import KeptAliases


class FastPlacement(fixtures.Fixture):
    """While it is active, Placement checks each schema once and keeps the
    aliases of its tables."""

    def _setUp(self):
        self.useFixture(CheckedSchemas())
        self.useFixture(KeptAliases())
