# SPDX-License-Identifier: Apache-2.0
"""The part of Placement's database that this project reads.

Source: placement.db.sqlalchemy.models, and the alembic revisions next to it.
The tables and columns below are the same in all supported revisions.
"""

from collections.abc import Collection

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_holistic.inventory.errors import DatabaseFailed

SUPPORTED = frozenset(['422ece571366', 'a082b8bb98d0'])
"""Placement 6.0.0 (Xena), which has types of consumers, to 16.0.0. The later
revision only drops indexes that repeat unique constraints."""

_METADATA = sa.MetaData()


def _table(table: str, *columns: str, **others: type) -> sa.Table:
    return sa.Table(table, _METADATA, *(
        sa.Column(column, sa.Integer) for column in columns), *(
        sa.Column(column, kind) for column, kind in others.items()))


VERSION = _table('alembic_version', version_num=sa.String)
PROVIDERS = _table('resource_providers', 'id', 'generation',
                   'parent_provider_id', 'root_provider_id',
                   uuid=sa.String, name=sa.Unicode)
CLASSES = _table('resource_classes', 'id', name=sa.String)
TRAITS = _table('traits', 'id', name=sa.Unicode)
PROVIDER_TRAITS = _table(
    'resource_provider_traits', 'resource_provider_id', 'trait_id')
AGGREGATES = _table(
    'resource_provider_aggregates', 'resource_provider_id', 'aggregate_id')
INVENTORIES = _table(
    'inventories', 'resource_provider_id', 'resource_class_id', 'total',
    'reserved', 'min_unit', 'max_unit', 'step_size',
    allocation_ratio=sa.Float)
ALLOCATIONS = _table(
    'allocations', 'resource_provider_id', 'resource_class_id', 'used',
    consumer_id=sa.String)


def check_revision(connection: sa.Connection,
                   accepted: Collection[str] = ()) -> None:
    """Returns if the schema of the database is known.

    :param accepted: further revisions that the operator vouches for
    :raises DatabaseFailed: it is another schema, or not Placement's
    """
    try:
        found = connection.execute(
            sa.select(VERSION.c.version_num)).scalars().all()
    except db_exception.DBConnectionError:
        raise
    except db_exception.DBError as error:
        raise DatabaseFailed(
            'it has no readable table alembic_version, and is probably not '
            'the database of Placement') from error
    if not found or not SUPPORTED.union(accepted).issuperset(found):
        raise DatabaseFailed(
            f'its schema has the revision {", ".join(found) or "none"}, and '
            f'the driver placement-db knows {", ".join(sorted(SUPPORTED))}. '
            'Set [inventory] driver to placement, or see [inventory] '
            'placement_revisions')
