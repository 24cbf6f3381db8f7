# SPDX-License-Identifier: Apache-2.0
"""Writes resource providers directly into Placement's database."""

from placement import context, db_api
from placement.db.sqlalchemy import models
import sqlalchemy as sa


def insert_providers(providers, aggregates, compute_traits):
    """Insert root providers with inventories, traits and aggregates.

    All traits must exist. The devices of the hosts are not inserted.

    :param providers: (UUID, EmbeddedHost) pairs
    :param aggregates: UUIDs of aggregates by name of the host
    :param compute_traits: names of the traits that every nova-compute reports
    """
    _insert(context.RequestContext(), providers, aggregates, compute_traits)


@db_api.placement_context_manager.writer
def _insert(admin, providers, aggregates, compute_traits):
    session = admin.session
    session.execute(sa.insert(models.ResourceProvider), [
        {'uuid': uuid, 'name': host.name, 'generation': 1}
        for uuid, host in providers])
    # A provider without a parent is the root of a separate tree.
    session.execute(
        sa.update(models.ResourceProvider)
        .where(models.ResourceProvider.root_provider_id.is_(None))
        .values(root_provider_id=models.ResourceProvider.id)
        .execution_options(synchronize_session=False))
    ids = _ids(session, models.ResourceProvider)
    hosts = [(ids[host.name], host) for _, host in providers]
    classes = _ids(session, models.ResourceClass)
    _insert_rows(session, models.Inventory, (
        {'resource_provider_id': provider,
         'resource_class_id': classes[name], **inventory}
        for provider, host in hosts
        for name, inventory in host.inventories().items()))
    traits = _ids(session, models.Trait)
    _insert_rows(session, models.ResourceProviderTrait, (
        {'resource_provider_id': provider, 'trait_id': traits[name]}
        for provider, host in hosts
        for name in {*compute_traits, *host.traits}))
    known = _ensure_aggregates(session, set().union(*aggregates.values()))
    _insert_rows(session, models.ResourceProviderAggregate, (
        {'resource_provider_id': provider, 'aggregate_id': known[uuid]}
        for provider, host in hosts for uuid in aggregates[host.name]))


def _ensure_aggregates(session, uuids):
    """Id of each aggregate by UUID. Missing aggregates are inserted, because
    Placement has an aggregate only after a provider was added to it."""
    known = _ids(session, models.PlacementAggregate, 'uuid')
    _insert_rows(session, models.PlacementAggregate, (
        {'uuid': uuid} for uuid in sorted(uuids - known.keys())))
    return _ids(session, models.PlacementAggregate, 'uuid')


def _ids(session, model, key='name'):
    return dict(session.execute(
        sa.select(getattr(model, key), model.id)).all())


def _insert_rows(session, model, rows):
    rows = list(rows)
    if rows:
        session.execute(sa.insert(model), rows)
