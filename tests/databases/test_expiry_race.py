# SPDX-License-Identifier: Apache-2.0
"""A lease expires while a user extends it, or requests an update that may
renew it: either the members are kept, or the request is refused."""

from concurrent.futures import ThreadPoolExecutor, TimeoutError
import contextlib
from datetime import timedelta

import pytest
import sqlalchemy as sa

from nova_holistic.table.coordination.tasks import NewTask
from nova_holistic.table.records import GroupStatus, MemberState, Task
from tests.unit.table import builders

NOON = builders.NOON
LATER = NOON + timedelta(hours=1)


def extend(table, group):
    return table.extend_lease(group.uuid, None, LATER, NOON)


def update(table, group):
    return table.tasks.request(group.uuid, NewTask(
        Task.UPDATING, {}, [GroupStatus.PLANNED], 1), NOON)


def meanwhile(table, step, request, expire):
    """Expire a lease. The request begins before a step of the expiry; returns
    whether it is accepted.

    :param step: start of a statement
    """
    requests = []

    def begin(link, cursor, statement, *rest):
        if not requests and statement.startswith(step):
            requests.append(pool.submit(request))
            # The other transaction either ends, or waits for this one.
            with contextlib.suppress(TimeoutError):
                requests[0].result(1)

    engine = table.database.engine
    with ThreadPoolExecutor(1) as pool:
        sa.event.listen(engine, 'before_cursor_execute', begin)
        try:
            expire()
        finally:
            sa.event.remove(engine, 'before_cursor_execute', begin)
        return requests[0].result(300)


@pytest.mark.parametrize('request_of_user', [extend, update])
@pytest.mark.parametrize('step', [
    'UPDATE holistic_members SET', 'SELECT holistic_members.id',
    'INSERT INTO holistic_events'])
def test_a_user_needs_a_lease_while_it_expires(table, step, request_of_user):
    group = builders.planned(
        table, builders.a_group(lease_expires_at=NOON), node=2)
    accepted = meanwhile(
        table, step, lambda: request_of_user(table, group),
        lambda: table.expire(group.uuid, NOON))
    table.settle(group.uuid, NOON)
    assert ({row.state for row in table.members(group.uuid)},
            table.get_group(group.uuid).status) == (
        ({MemberState.PLANNED}, GroupStatus.PLANNED) if accepted
        else ({MemberState.RELEASED}, GroupStatus.RELEASED))


@pytest.mark.parametrize('request_of_user', [extend, update])
def test_a_user_needs_a_lease_while_it_expires_for_volumes(
        table, request_of_user):
    group = builders.planned(
        table, builders.a_group(lease_expires_at=NOON), web=None)
    assert table.volumes.write(group.uuid, builders.volumes_of(group, 2))
    assert meanwhile(
        table, 'INSERT INTO holistic_events',
        lambda: request_of_user(table, group),
        lambda: table.volumes.expire(group.uuid, NOON))
    assert {row.state for row in table.volumes.of_group(group.uuid)} == {
        MemberState.PLANNED}


@pytest.mark.parametrize('request_of_user', [extend, update])
@pytest.mark.parametrize('step', [
    'UPDATE holistic_members SET', 'SELECT holistic_members.id',
    'INSERT INTO holistic_events'])
def test_the_place_of_a_deleted_server_is_kept_with_an_extended_lease(
        table, step, request_of_user):
    group = builders.planned(
        table, builders.a_group(lease_expires_at=NOON), web=None)
    row = table.claim(group.uuid, 'db/web', builders.new_uuid(), NOON)
    released = []
    accepted = meanwhile(
        table, step, lambda: request_of_user(table, group),
        lambda: released.append(table.release_unleased(row, NOON)))
    table.settle(group.uuid, NOON)
    (after,) = table.members(group.uuid)
    assert (released, after.state) == (
        ([False], MemberState.CLAIMED) if accepted
        else ([True], MemberState.RELEASED))


def test_the_place_of_a_deleted_volume_is_kept_with_an_extended_lease(table):
    group = builders.planned(
        table, builders.a_group(lease_expires_at=NOON), web=None)
    assert table.volumes.write(group.uuid, builders.volumes_of(group, 1))
    row = table.volumes.claim(
        group.uuid, 'data-0', builders.new_uuid(), NOON).row
    assert meanwhile(
        table, 'UPDATE holistic_volumes', lambda: extend(table, group),
        lambda: table.volumes.deleted(row, NOON))
    (after,) = table.volumes.of_group(group.uuid)
    assert after.state == MemberState.PLANNED
