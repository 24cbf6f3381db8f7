# SPDX-License-Identifier: Apache-2.0
"""Reads the rows of Placement's database.

A request to Placement takes at least 5 ms of processor time, during which all
services in this process wait. Reading the rows takes less time.
"""

import collections

import sqlalchemy as sa

PROVIDERS = 'SELECT name, uuid FROM resource_providers ORDER BY id'
USAGES = """
SELECT provider.name, class.name, (
    SELECT coalesce(sum(used), 0) FROM allocations
    WHERE resource_provider_id = provider.id
    AND resource_class_id = class.id)
FROM resource_providers AS provider
LEFT JOIN inventories ON resource_provider_id = provider.id
LEFT JOIN resource_classes AS class ON class.id = resource_class_id
ORDER BY provider.id"""
ALLOCATIONS = """
SELECT consumer_id, provider.uuid, provider.generation, class.name, used
FROM allocations
JOIN resource_providers AS provider ON provider.id = resource_provider_id
JOIN resource_classes AS class ON class.id = resource_class_id
"""


class PlacementRows:
    """Providers and allocations, in the form of Placement's API.

    :param engine: SQLAlchemy engine of Placement's database
    """

    def __init__(self, engine):
        self._engine = engine

    def providers(self):
        """UUID of each resource provider by its name."""
        return dict(self._read(PROVIDERS))

    def usages(self):
        """Amounts in use by resource class, by name of the provider.

        Every provider has a mapping with all its resource classes, also those
        with an amount of 0.
        """
        found = {}
        for name, kind, amount in self._read(USAGES):
            used = found.setdefault(name, {})
            if kind is not None:
                used[kind] = amount
        return found

    def allocations(self, consumer):
        """Allocations of a consumer by provider UUID, each with ``generation``
        and ``resources``."""
        found = {}
        for _, provider, generation, kind, amount in self._read(
                ALLOCATIONS + 'WHERE consumer_id = :uuid', uuid=consumer):
            found.setdefault(provider, {
                'generation': generation, 'resources': {},
            })['resources'][kind] = amount
        return found

    def consumers(self, provider):
        """Amounts by resource class, by consumer UUID, for one provider.

        :param provider: UUID of the provider
        """
        found = collections.defaultdict(dict)
        for consumer, _, _, kind, amount in self._read(
                ALLOCATIONS + 'WHERE provider.uuid = :uuid', uuid=provider):
            found[consumer][kind] = amount
        return dict(found)

    def _read(self, statement, **parameters):
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(
                sa.text(statement), parameters)]
