# SPDX-License-Identifier: Apache-2.0
"""Plans without holds, as clients see them."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.api.call import Call
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.requests import microversions
from nova_holistic.api.views import common, reasons
from nova_holistic.api.views.totals import without_totals
from nova_holistic.table.records import PlanRecord


def plan(call: Call, record: PlanRecord) -> dict[str, Any]:
    hosts = call.service.policy_enforcer.may_with(
        call.context, rules.SHOW_HOSTS, record)
    shown = dict(record.answer or {})
    if 'reasons' in shown:
        shown['reasons'] = reasons.visible_reasons(shown['reasons'], hosts)
    if not microversions.has(call.request, microversions.WARNINGS):
        shown.pop('warnings', None)
    public = shown.pop('public', None)
    if not hosts and 'message' in shown:
        shown['message'] = (without_totals(shown['message'])
                            if public is None else public)
    if not hosts and 'placements' in shown:
        shown['placements'] = [{'member': each['member']}
                               for each in shown['placements']]
    if not hosts and shown.get('relaxations', {}).get('hosts'):
        shown['relaxations'] = _without_names(shown['relaxations'])
    return {**shown, 'id': record.uuid, 'status': str(record.status),
            'links': [common.link(
                'self', call.url(f'/v1/plans/{record.uuid}'))]}


def _without_names(relaxations: Mapping[str, Any]) -> dict[str, Any]:
    """Without names of hosts and domains."""
    return {**relaxations, 'hosts': {
        name: value for name, value in relaxations['hosts'].items()
        if name not in ('like', 'added')}}
