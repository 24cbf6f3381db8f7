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
    """A dry run, as far as its user may see it."""
    hosts = call.service.policy_enforcer.may_with(
        call.context, rules.SHOW_HOSTS, record)
    document = dict(record.answer or {})
    if 'reasons' in document:
        document['reasons'] = reasons.visible_reasons(
            document['reasons'], hosts)
    if not microversions.has(call.request, microversions.WARNINGS):
        document.pop('warnings', None)
    public = document.pop('public', None)
    if not hosts and 'message' in document:
        document['message'] = (without_totals(document['message'])
                               if public is None else public)
    if not hosts and 'placements' in document:
        document['placements'] = [{'member': placement['member']}
                                  for placement in document['placements']]
    if not hosts and document.get('relaxations', {}).get('hosts'):
        document['relaxations'] = _without_names(document['relaxations'])
    return {**document, 'id': record.uuid, 'status': str(record.status),
            'links': [common.link(
                'self', call.url(f'/v1/plans/{record.uuid}'))]}


def _without_names(relaxations: Mapping[str, Any]) -> dict[str, Any]:
    """The relaxations without names of hosts and domains."""
    return {**relaxations, 'hosts': {
        name: value for name, value in relaxations['hosts'].items()
        if name not in ('like', 'added')}}
