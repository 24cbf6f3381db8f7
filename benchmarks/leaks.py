# SPDX-License-Identifier: Apache-2.0
"""Rows that remain in the databases after groups have been deleted.

Every row and every consumer that groups and their servers have written is
deleted with them. Any remaining row is a leak.
"""

import time

import sqlalchemy as sa

QUERIES = {
    'consumers in Placement': ('placement', 'SELECT count(*) FROM consumers'),
    'allocations in Placement':
        ('placement', 'SELECT count(*) FROM allocations'),
    **{table: ('holistic', f'SELECT count(*) FROM {table}') for table in (
        'holistic_groups', 'holistic_members', 'holistic_refusals',
        'holistic_events', 'holistic_plans', 'holistic_host_outages')}}
"""Database and query of each number. Rows of ``holistic_jobs`` and
``holistic_host_statistics`` do not belong to groups."""
TIMEOUT = 180
"""Seconds in which the reconciler corrects what a failure has left."""


def counts(layout):
    """Each number of ``QUERIES``, read from the databases of a cloud."""
    return {name: _read(layout, database, query)
            for name, (database, query) in QUERIES.items()}


def settled(layout, before):
    """The numbers when they are equal to those before, or after a time limit.

    :param before: numbers before the first group was created
    """
    until = time.monotonic() + TIMEOUT
    while True:
        after = counts(layout)
        if not differences(before, after) or time.monotonic() > until:
            return after
        time.sleep(5)


def differences(before, after):
    """A sentence for each number that has changed."""
    return [f'There are {after[name]} {name}; there were {number}.'
            for name, number in before.items() if after[name] != number]


def _read(layout, database, query):
    engine = sa.create_engine(layout.database(database))
    try:
        with engine.connect() as connection:
            return connection.execute(sa.text(query)).scalar()
    finally:
        engine.dispose()
