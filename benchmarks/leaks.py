# SPDX-License-Identifier: Apache-2.0
"""What is left after a soak test, compared with what exists.

Every row and every consumer that groups or their servers have written is
either part of a group that exists, or a leak.
"""

import time

import sqlalchemy as sa

HOLDS = '''
    SELECT c.uuid FROM consumers c
    JOIN consumer_types t ON t.id = c.consumer_type_id
    WHERE t.name = 'HOLISTIC_HOLD'
    AND EXISTS (SELECT 1 FROM allocations a WHERE a.consumer_id = c.uuid)'''
ROWS = 'SELECT hold FROM holistic_members WHERE state = \'planned\''
CONSUMERS = 'SELECT DISTINCT consumer_id FROM allocations'
COUNTS = {
    'groups': 'SELECT count(*) FROM holistic_groups',
    'members': 'SELECT count(*) FROM holistic_members',
    'events of deleted groups':
        'SELECT count(*) FROM holistic_events WHERE group_uuid NOT IN '
        '(SELECT uuid FROM holistic_groups)'}
TIMEOUT = 180
"""Seconds in which the reconciler corrects what broke off."""


def settled(layout, before, groups, members):
    """What is left, once it is what exists or after a time-out.

    :param before: consumers that existed before the soak test
    :param groups: number of groups that exist
    :param members: number of their members, all of them planned
    """
    until = time.monotonic() + TIMEOUT
    while True:
        found = left(layout, before, groups, members)
        if not found['leaks'] or time.monotonic() > until:
            return found
        time.sleep(5)


def left(layout, before, groups, members):
    """Numbers, and a text for each difference from what exists."""
    holds = set(_read(layout, 'placement', HOLDS))
    rows = set(_read(layout, 'holistic', ROWS))
    others = consumers(layout) - before - holds
    found = {name: _read(layout, 'holistic', query)[0]
             for name, query in COUNTS.items()}
    found.update({'holds': len(holds), 'rows of planned members': len(rows),
                  'other consumers': len(others)})
    return {**found, 'leaks': differences(found, holds, rows, groups, members)}


def differences(found, holds, rows, groups, members):
    """A text for each number that is not what it has to be."""
    wanted = {'groups': groups, 'members': members, 'holds': members,
              'rows of planned members': members, 'other consumers': 0,
              'events of deleted groups': 0}
    texts = [f'{name}: {found[name]} instead of {number}'
             for name, number in wanted.items() if found[name] != number]
    if holds != rows:
        texts.append(f'{len(holds - rows)} holds without a row, '
                     f'{len(rows - holds)} rows without a hold')
    return texts


def consumers(layout):
    """All consumers with allocations."""
    return set(_read(layout, 'placement', CONSUMERS))


def _read(layout, database, query):
    engine = sa.create_engine(layout.database(database))
    try:
        with engine.connect() as connection:
            return list(connection.execute(sa.text(query)).scalars())
    finally:
        engine.dispose()
