# SPDX-License-Identifier: Apache-2.0
"""Reads resource providers from the rows of Placement's database."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import sqlalchemy as sa

from nova_holistic.inventory.resource_providers import (
    placement_schema as schema)
from nova_holistic.inventory.resource_providers.placement_database import (
    PlacementDatabase)
from nova_holistic.inventory.resource_providers.provider import (
    Provider, shared)
from nova_holistic.inventory.resource_providers.provider_source import (
    Listed, Listing, ProviderSource, Sharing, SHARING_TRAIT)
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.frozen import FrozenMapping

T = TypeVar('T')

CHUNK = 1000
"""Maximum number of ids in a condition. Some databases limit this number."""


class ProviderRows(ProviderSource):
    """Caches providers, and reads the inventories and traits only of providers
    whose generation has changed.

    The result of ``read`` is the state at one moment during the call.

    Statements of ``read``: five for the schema, the list of providers, the
    resource classes, the usage and the consumers. If providers have changed or
    are new, one more for the names of traits, and two for each thousand of
    these providers. The database computes the sums of the usage.
    """

    def __init__(self, database: PlacementDatabase):
        self._database = database
        self._known: dict[str, Provider] = {}
        # IDs of their rows. If a provider was deleted and created again, it
        # may have the same UUID and the same generation.
        self._ids: dict[str, int] = {}
        self._classes: dict[int, str] = {}

    def list(self) -> Listing:
        """See ``ProviderSource.list``.

        :raises DatabaseFailed: the database does not answer, or is not as
            expected
        """
        with self._database.view() as connection:
            rows = _providers(connection)
            uuids = {row.id: row.uuid for row in rows}
            return {row.uuid: Listed(
                row.name, row.generation, row.parent_provider_id is None,
                uuids.get(row.parent_provider_id, '')) for row in rows}

    def read(self, uuids: Collection[str], listing: Listing | None = None,
             *, counted: bool = True) -> Mapping[str, Provider]:
        """See ``ProviderSource.read``. The listing is not used: providers are
        listed in the same transaction. Consumers are always counted.

        :raises DatabaseFailed: the database does not answer, or is not as
            expected
        """
        wanted = set(uuids)
        with self._database.view() as connection:
            rows = [row for row in _providers(connection)
                    if row.uuid in wanted]
            classes = _names(connection, schema.CLASSES)
            if classes != self._classes:
                # The name of a class may have changed.
                self._known = {}
            self._classes = classes
            bare = _bare(connection, rows, classes, {
                row.uuid: self._known[row.uuid] for row in rows
                if self._ids.get(row.uuid) == row.id
                and row.uuid in self._known})
            found = _with_uses(bare, rows, classes, _used(connection),
                               _consumers(connection))
        self._known = {uuid: found[uuid] for uuid in uuids if uuid in found}
        self._ids = {row.uuid: row.id for row in rows}
        return self._known

    def reread(self, uuids: Collection[str]
               ) -> Mapping[str, Provider | None]:
        """See ``ProviderSource.reread``.

        Statements: two, and six for each thousand of the providers.

        :raises DatabaseFailed: the database does not answer, or is not as
            expected
        """
        found: dict[str, Provider | None] = dict.fromkeys(uuids)
        with self._database.view() as connection:
            classes = _names(connection, schema.CLASSES)
            for chunk in _chunks(uuids):
                rows = connection.execute(sa.select(schema.PROVIDERS).where(
                    schema.PROVIDERS.c.uuid.in_(chunk))).all()
                ids = [row.id for row in rows]
                found.update(_with_uses(
                    _bare(connection, rows, classes, {}), rows, classes,
                    _used(connection, ids), _consumers(connection, ids)))
        return found

    def sharing(self, listing: Listing, uuids: Collection[str]
                ) -> Mapping[str, Sharing]:
        """See ``ProviderSource.sharing``; no statement without UUIDs, and
        otherwise two.

        :raises DatabaseFailed: the database does not answer, or is not as
            expected
        """
        found = self.with_trait(SHARING_TRAIT) & frozenset(
            uuids) if uuids else frozenset[str]()
        if not found:
            return {}
        own, others = schema.AGGREGATES, schema.AGGREGATES.alias()
        provider, other = schema.PROVIDERS, schema.PROVIDERS.alias()
        root = schema.PROVIDERS.alias()
        roots: dict[str, set[str]] = {uuid: set() for uuid in found}
        with self._database.view() as connection:
            for uuid, other_uuid in connection.execute(
                    sa.select(provider.c.uuid, root.c.uuid).distinct()
                    .join(own, own.c.resource_provider_id == provider.c.id)
                    .join(others, others.c.aggregate_id == own.c.aggregate_id)
                    .join(other, other.c.id == others.c.resource_provider_id)
                    .join(root, root.c.id == other.c.root_provider_id)
                    .where(provider.c.uuid.in_(sorted(found)))):
                roots[uuid].add(other_uuid)
        return {uuid: Sharing(listing[uuid].name, frozenset(those) - {uuid})
                for uuid, those in roots.items() if uuid in listing}

    def with_trait(self, trait: str) -> frozenset[str]:
        """See ``ProviderSource.with_trait``.

        :raises DatabaseFailed: the database does not answer, or is not as
            expected
        """
        providers, owned = schema.PROVIDERS, schema.PROVIDER_TRAITS
        with self._database.view() as connection:
            return frozenset(connection.execute(
                sa.select(providers.c.uuid).join(
                    owned, owned.c.resource_provider_id == providers.c.id)
                .join(schema.TRAITS, schema.TRAITS.c.id == owned.c.trait_id)
                .where(schema.TRAITS.c.name == trait)).scalars())


def _bare(connection: sa.Connection, rows: Collection[Any],
          classes: Mapping[int, str], known: Mapping[str, Provider],
          ) -> dict[str, Provider]:
    """The providers by UUID, with the usage that was known before.

    :param classes: names of resource classes by id
    :param known: providers that were read before, by UUID
    """
    changed = {row.id for row in rows if row.uuid not in known
               or known[row.uuid].generation != row.generation}
    inventories: dict[int, dict[str, Inventory]] = defaultdict(dict)
    traits: dict[int, set[str]] = defaultdict(set)
    if changed:
        names = _names(connection, schema.TRAITS)
        for row in _of(connection, schema.INVENTORIES, changed):
            inventories[row.resource_provider_id][
                classes[row.resource_class_id]] = _inventory(row)
        for row in _of(connection, schema.PROVIDER_TRAITS, changed):
            traits[row.resource_provider_id].add(names[row.trait_id])
    return {row.uuid: Provider(
        generation=row.generation,
        traits=shared(frozenset(traits[row.id])),
        inventories=FrozenMapping(inventories[row.id]), consumers=0)
        if row.id in changed else known[row.uuid] for row in rows}


def _with_uses(bare: Mapping[str, Provider], rows: Collection[Any],
               classes: Mapping[int, str],
               used: Mapping[int, Mapping[int, int]],
               consumers: Mapping[int, int]) -> dict[str, Provider]:
    """The providers by UUID, with this usage. Providers with unchanged usage
    are the same objects."""
    return {row.uuid: _with_use(
        bare[row.uuid], {classes[each]: amount for each, amount
                         in used.get(row.id, {}).items()},
        consumers.get(row.id, 0)) for row in rows}


def _providers(connection: sa.Connection) -> Collection[Any]:
    return connection.execute(sa.select(schema.PROVIDERS)).all()


def _names(connection: sa.Connection, table: sa.Table) -> dict[int, str]:
    return {row.id: row.name for row in connection.execute(sa.select(table))}


def _of(connection: sa.Connection, table: sa.Table, ids: Collection[int],
        ) -> Iterator[Any]:
    """The rows of some providers."""
    for chunk in _chunks(ids):
        yield from connection.execute(sa.select(table).where(
            table.c.resource_provider_id.in_(chunk)))


def _chunks(keys: Collection[T]) -> Iterator[Sequence[T]]:
    """The keys in sequences of up to ``CHUNK`` keys."""
    ordered = list(keys)
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start:start + CHUNK]


def _inventory(row: Any) -> Inventory:
    return Inventory(
        used=0, total=row.total, reserved=row.reserved,
        allocation_ratio=row.allocation_ratio, min_unit=row.min_unit,
        max_unit=row.max_unit, step_size=row.step_size)


def _used(connection: sa.Connection, ids: Collection[int] | None = None,
          ) -> Mapping[int, Mapping[int, int]]:
    """Amount in use by id of the provider and of the resource class.

    :param ids: ids of the providers; None: all providers
    """
    table = schema.ALLOCATIONS.c
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for provider, resource_class, amount in connection.execute(
            sa.select(table.resource_provider_id, table.resource_class_id,
                      sa.func.sum(table.used)).where(_among(ids)).group_by(
                table.resource_provider_id, table.resource_class_id)):
        # Some databases return a sum of integers in another type.
        found[provider][resource_class] = int(amount)
    return found


def _consumers(connection: sa.Connection,
               ids: Collection[int] | None = None) -> Mapping[int, int]:
    """Number of consumers with allocations, by id of the provider.

    :param ids: ids of the providers; None: all providers
    """
    table = schema.ALLOCATIONS.c
    return dict(connection.execute(
        sa.select(table.resource_provider_id,
                  sa.func.count(sa.distinct(table.consumer_id))).where(
            _among(ids)).group_by(table.resource_provider_id)).tuples().all())


def _among(ids: Collection[int] | None) -> sa.ColumnElement[bool]:
    """The condition that an allocation is on one of these providers."""
    if ids is None:
        return sa.true()
    return schema.ALLOCATIONS.c.resource_provider_id.in_(list(ids))


def _with_use(provider: Provider, used: Mapping[str, int],
              consumers: int) -> Provider:
    """The provider with this usage; the same object if nothing has changed."""
    if provider.consumers == consumers and all(
            amount == used.get(name, 0)
            for name, amount in provider.used().items()):
        return provider
    return replace(provider, consumers=consumers, inventories=FrozenMapping({
        name: replace(inventory, used=used.get(name, 0))
        for name, inventory in provider.inventories.items()}))
