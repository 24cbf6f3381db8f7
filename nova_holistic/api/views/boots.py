# SPDX-License-Identifier: Apache-2.0
"""The creation of the servers of a group, as clients see it."""

from collections.abc import Sequence
from typing import Any

from nova_holistic.api.views import common
from nova_holistic.table.boot_records import BootRecord, BootServer


def boot(record: BootRecord | None,
         servers: Sequence[BootServer]) -> dict[str, Any] | None:
    """The creation of the servers of a group; None if none was requested."""
    if record is None:
        return None
    return {
        'status': str(record.status),
        'rollback': record.rollback,
        'retries': record.retries,
        'reasons': [{'at': each['at'], 'message': each['message']}
                    for each in record.reasons],
        'updated_at': common.time(record.updated_at),
        'servers': [{
            'member': each.path, 'state': str(each.state),
            'server_id': each.server_uuid, 'tries': each.tries,
            'fault': each.fault} for each in servers]}
