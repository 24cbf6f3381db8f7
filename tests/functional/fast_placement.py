# SPDX-License-Identifier: Apache-2.0
"""Removes work that Placement repeats for each request. It needs no Nova."""

import fixtures

from tests.functional.checked_schemas import CheckedSchemas
from tests.functional.kept_aliases import KeptAliases
from tests.functional.kept_signatures import KeptSignatures
from tests.functional.quiet_requests import QuietRequests


class FastPlacement(fixtures.Fixture):
    """While it is active, Placement checks each schema once, keeps the
    aliases of its tables, inspects each method once and logs no requests."""

    def _setUp(self):
        self.useFixture(CheckedSchemas())
        self.useFixture(KeptAliases())
        self.useFixture(KeptSignatures())
        self.useFixture(QuietRequests())
