# SPDX-License-Identifier: Apache-2.0
"""An engine takes work from another engine without a recent heartbeat, while
the transaction of this engine is not committed. SQLite has only one writer at
a time."""

from concurrent.futures import ThreadPoolExecutor, TimeoutError
import contextlib
from dataclasses import replace
from datetime import timedelta
import threading

import sqlalchemy as sa

from nova_holistic.table.boot_records import BootRequest, BootServerState
from nova_holistic.table.created_volumes import VolumeRequest
from nova_holistic.table.records import GroupStatus
from tests.unit.table import builders

NOON = builders.NOON
LATER = NOON + timedelta(hours=1)


def before_the_commit(table, write, take_over):
    """Call ``write``, and begin ``take_over`` before its commit. Return both
    results."""
    writing, begun = threading.get_ident(), []

    def begin(_link):
        if threading.get_ident() == writing and not begun:
            begun.append(pool.submit(take_over))
            # It either ends without the change, or waits for the commit.
            with contextlib.suppress(TimeoutError):
                begun[0].result(1)

    with ThreadPoolExecutor(1) as pool:
        sa.event.listen(table.database.engine, 'commit', begin)
        try:
            written = write()
        finally:
            sa.event.remove(table.database.engine, 'commit', begin)
        return written, begun[0].result(300)


def test_the_next_engine_reads_the_last_change_of_a_server(table):
    """Otherwise it would create the server again."""
    group, boots = builders.a_group(GroupStatus.PLANNED), table.boots
    table.create_group(group, BootRequest('encrypted', True, 1))
    boot = boots.take(group.uuid, 'one', NOON, NOON)
    assert boots.begin(boot, ['db/web'], NOON)
    (waiting,) = boots.servers(group.uuid)
    creating = replace(waiting, state=BootServerState.CREATING, tries=1)

    def take_over():
        assert boots.take(group.uuid, 'two', LATER, LATER)
        return boots.servers(group.uuid)

    assert before_the_commit(
        table, lambda: boots.change_server(boot, waiting, creating, NOON),
        take_over) == (True, (creating,))
    assert not boots.change_server(boot, creating, waiting, LATER)


def test_the_next_engine_reads_the_last_attempt_of_a_volume(table):
    """Otherwise it would create the volume again."""
    group, creations = builders.a_group(created_at=NOON), (
        table.volumes.creations)
    table.create_group(group, None, VolumeRequest('encrypted', ['data']))
    creation = creations.take(group.uuid, 'one', NOON, NOON)
    (waiting,) = creations.volumes(group.uuid)
    attempted = replace(
        waiting, attempt=builders.new_uuid(), attempted_at=NOON)

    def take_over():
        assert creations.take(group.uuid, 'two', LATER, LATER)
        return creations.volumes(group.uuid)

    assert before_the_commit(
        table, lambda: creations.change_volume(creation, attempted, NOON),
        take_over) == (True, (attempted,))
    assert not creations.change_volume(creation, waiting, LATER)
