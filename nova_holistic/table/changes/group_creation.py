# SPDX-License-Identifier: Apache-2.0
"""Writes a new group with everything that was requested together with it."""

from oslo_utils import timeutils
import sqlalchemy as sa

from nova_holistic.table.boot_records import BootRequest
from nova_holistic.table.coordination import boots, volume_creations
from nova_holistic.table.created_volumes import VolumeRequest
from nova_holistic.table.database import Database, retried
from nova_holistic.table.history import events
from nova_holistic.table.records import GroupRecord
from nova_holistic.table import rows
from nova_holistic.table.schema.models import GroupRow


@retried
def create(database: Database, record: GroupRecord,
           boot: BootRequest | None = None,
           volumes: VolumeRequest | None = None) -> None:
    """Write a group and the requests for its servers and its volumes in one
    transaction.

    :param boot: None if the client creates the servers
    :param volumes: None if no engine creates volumes
    :raises Duplicate: a group with this UUID, or a group of the project with
        this idempotency key, exists
    """
    with database.writer() as session:
        session.execute(
            sa.insert(GroupRow).values(rows.group_values(record)))
        events.add(session, [events.Event(
            record.uuid, events.Kind.GROUP_STATUS,
            record.created_at or timeutils.utcnow(),
            to_state=str(record.status))])
        if boot is not None:
            boots.add(session, record, boot)
        if volumes is not None:
            volume_creations.add(session, record, volumes)
