# SPDX-License-Identifier: Apache-2.0
"""Plans that hold nothing, as clients see them."""

from typing import Any

from nova_holistic.api.call import Call
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.views import common, reasons
from nova_holistic.table.records import PlanRecord


def plan(call: Call, record: PlanRecord) -> dict[str, Any]:
    hosts = call.service.authority.may_with(
        call.context, rules.SHOW_HOSTS, record)
    shown = dict(record.answer or {})
    if 'reasons' in shown:
        shown['reasons'] = reasons.shown(shown['reasons'], hosts)
    if not hosts and 'placements' in shown:
        shown['placements'] = [{'member': each['member']}
                               for each in shown['placements']]
    return {**shown, 'id': record.uuid, 'status': str(record.status),
            'links': [common.link(
                'self', call.url(f'/v1/plans/{record.uuid}'))]}
