# SPDX-License-Identifier: Apache-2.0
"""Plans without holds: create and show."""

import uuid

import webob

from nova_holistic.api.call import answer, Call
from nova_holistic.api.checks import federation, limits, server_keys
from nova_holistic.api.description import definitions
from nova_holistic.api import errors, waiting
from nova_holistic.api.views import plans as views
from nova_holistic import crash_points
from nova_holistic.documents.groups.adoption import must_not_adopt
from nova_holistic.table.records import EXTRAS, PlanRecord, PlanStatus


def create(call: Call) -> webob.Response:
    """Request a plan without holds."""
    service, context, body = call.service, call.context, call.body
    server_keys.must_be_known(call)
    federation.must_be_placeable(call)
    must_not_adopt(body['group'])
    group = definitions.check_dry_run(call, body['group'], context)
    federation.must_have_no_volumes(call, group)
    objective = definitions.objective(service, body.get('objective'))
    call.must_be_within_limits(context, {limits.PLANS: 1})
    now = service.clock()
    record = PlanRecord(
        uuid=str(uuid.uuid4()), project_id=context.project_id,
        user_id=context.user_id, name=group.name,
        status=PlanStatus.PLANNING, document=body['group'],
        objective=objective, created_at=now, updated_at=now,
        extras=tuple(name for name in EXTRAS if body.get(name)))
    service.table.plans.create(record)
    crash_points.reached('api.plan-created')
    service.engines.plan(context.for_engine(), record.uuid)
    current, settled = waiting.wait_until_settled(
        call, lambda: service.table.plans.get(record.uuid),
        lambda plan: plan.status != PlanStatus.PLANNING)
    if current is None:
        raise errors.not_found('plan', record.uuid)
    return answer(201 if settled else 202, {'plan': views.plan(call, current)},
                  {'Location': call.url(f'/v1/plans/{record.uuid}')})


def show(call: Call) -> webob.Response:
    """Show a plan without holds."""
    record = call.plan()
    federation.refresh_plan(call, record)
    return answer(200, {'plan': views.plan(call, record)})
