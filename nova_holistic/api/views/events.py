# SPDX-License-Identifier: Apache-2.0
"""Events of a group, as clients see them."""

from typing import Any

from nova_holistic.api.views import common, reasons
from nova_holistic.table.history.events import Event


def event(record: Event, hosts: bool) -> dict[str, Any]:
    """
    :param hosts: whether the user may see names of hosts
    """
    return {
        'id': record.id, 'at': common.time(record.at),
        'kind': str(record.kind), 'member': record.member,
        'from_state': record.from_state, 'to_state': record.to_state,
        'reasons': reasons.visible_reasons(record.reasons, hosts),
        'details': dict(record.details or {}),
        'service': record.service, 'request_id': record.request_id,
        'user_id': record.user_id,
        **({'host': record.host} if hosts else {})}
