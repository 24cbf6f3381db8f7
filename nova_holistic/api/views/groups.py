# SPDX-License-Identifier: Apache-2.0
"""Groups, as clients see them."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.api.call import Call
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.requests import microversions
from nova_holistic.api.views import common, reasons
from nova_holistic.model.elastic.counts import Count
from nova_holistic.table.records import GroupRecord, GroupStatus


def brief(call: Call, record: GroupRecord,
          members: Mapping[str, int]) -> dict[str, Any]:
    """A group without its definition.

    :param members: state to number of members in it
    """
    hosts = call.service.policy_enforcer.may_with(
        call.context, rules.SHOW_HOSTS, record)
    return {
        'id': record.uuid, 'name': record.name,
        'project_id': record.project_id, 'user_id': record.user_id,
        'status': str(record.status),
        'task': record.task and str(record.task),
        'revision': record.revision, 'objective': record.objective,
        'reasons': reasons.visible_reasons(record.reasons, hosts),
        'violations': reasons.visible_reasons(
            record.violations if record.status == GroupStatus.DEGRADED
            else (), hosts),
        'lease_expires_at': common.time(record.lease_expires_at),
        'created_at': common.time(record.created_at),
        'updated_at': common.time(record.updated_at),
        'members': dict(members),
        'holds_written': record.holds_written
        if record.status == GroupStatus.PLANNING else None,
        **({'idempotency_key': record.idempotency_key}
           if microversions.has(call.request, microversions.CLOUDS) else {}),
        'links': [common.link('self', call.url(f'/v1/groups/{record.uuid}'))]}


def objective_value(call: Call, record: GroupRecord) -> dict[str, Any]:
    """The key of a group with value, bound and gap of its plan; nothing if
    the version of the request does not have it."""
    if not microversions.has(call.request, microversions.OBJECTIVE_VALUES):
        return {}
    return {'objective_value': record.objective_value}


def count(counted: Count) -> dict[str, Any]:
    """How many servers a member has, or how many replicas a nested group."""
    bounds = counted.bounds
    return {'path': counted.path, 'min': bounds.least,
            'desired': bounds.desired, 'max': bounds.most,
            'number': counted.number, 'missing': counted.missing}


def definition(record: GroupRecord) -> dict[str, Any]:
    """The document in the form of a request, without its outer key."""
    return dict(record.document.get('group', record.document))
