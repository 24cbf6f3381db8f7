# SPDX-License-Identifier: Apache-2.0
"""A group's status is settled while another transaction claims a member."""

from concurrent.futures import ThreadPoolExecutor, TimeoutError
import contextlib

import sqlalchemy as sa

from nova_holistic.table.queries import progress
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.schema.models import MemberRow
from tests.unit.table import builders


def test_a_claim_that_is_not_yet_committed_counts(table):
    """Otherwise the group would be planned although a server has one of its
    members."""
    group = builders.planned(
        table, builders.a_group(GroupStatus.BUILDING), node=2)
    first = table.members(group.uuid)[0]
    with ThreadPoolExecutor(1) as pool:
        with table.database.writer() as session:
            # The statements of a claim.
            session.execute(
                sa.update(MemberRow).where(MemberRow.id == first.id)
                .values(state=MemberState.CLAIMED, instance_uuid='server')
                .execution_options(synchronize_session=False))
            progress.start_group(session, group.uuid, builders.NOON)
            settling = pool.submit(table.settle, group.uuid, builders.NOON)
            # The transaction either ends without the claim, or waits for it.
            with contextlib.suppress(TimeoutError):
                settling.result(1)
        settling.result(300)
    assert table.get_group(group.uuid).status == GroupStatus.BUILDING
