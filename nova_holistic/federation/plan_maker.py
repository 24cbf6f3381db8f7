# SPDX-License-Identifier: Apache-2.0
"""Answers requests for plans without holds, with the offers of children."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from oslo_log import log as logging

from nova_holistic.engine.plan_answers import failed_answer, PlanAnswer
from nova_holistic.engine import reasons
from nova_holistic import exceptions
from nova_holistic.federation.credentials.user import User
from nova_holistic.federation.planner import FederatedPlanner
from nova_holistic.federation.planners import Planners
from nova_holistic.federation.results import (
    Offered, Refused, Request, Unknown)
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import PlanRecord, PlanStatus

LOG = logging.getLogger(__name__)

EXTRAS_SHARE = 0.1
"""Minimum share of the time limit for headroom and relaxations, even if the
offers have used all of the time. A single cloud uses the same share."""


def make_plan(planners: Planners, record: PlanRecord, user: User,
              seconds: float) -> PlanAnswer:
    """The answer to a request for a plan. The hosts of the plan are clouds.

    :param seconds: time limit
    :raises TableError: the table does not respond
    """
    document = record.document.get('group', record.document)
    request = Request(document, record.objective, 0, '', seconds)
    try:
        planner = planners.of(user)
        started = planner.timer()
        found = planner.offer(request)
    except table_errors.TableError:
        raise
    except exceptions.HolisticError as error:
        return failed_answer(reasons.of_errors(error))
    except Exception as error:
        return failed_answer([reasons.of_error(
            error, f'the search for offers failed: {error!r}')])
    left = seconds - (planner.timer() - started)
    more = _extras(planner, replace(
        request, seconds=max(left, EXTRAS_SHARE * seconds)), record.extras,
        found)
    if isinstance(found, Offered):
        return PlanAnswer(PlanStatus.PLANNED, {
            **_planned(record.name, found), **more})
    if isinstance(found, Refused):
        return PlanAnswer(PlanStatus.UNPLACEABLE, {
            'status': 'unplaceable',
            'reasons': [each.to_row() for each in found.reasons], **more})
    message = '; '.join(str(each.message) for each in found.reasons)
    public = '; '.join(each.to_row().get('public') or str(each.message)
                       for each in found.reasons)
    return PlanAnswer(PlanStatus.UNKNOWN, {
        'status': 'unknown', 'group': record.name, 'message': message,
        'public': public, **more})


def _extras(planner: FederatedPlanner, request: Request,
            wanted: Collection[str],
            found: Offered | Refused | Unknown) -> dict[str, Any]:
    """The keys of the requested additional answers. A failure leaves out a
    key, because the plan is already known."""
    if not wanted:
        return {}
    keys: dict[str, Any] = {}
    try:
        extras = planner.extras(request)
        if 'relaxations' in wanted and isinstance(found, Refused):
            relaxations = extras.relaxations()
            if relaxations is not None:
                keys['relaxations'] = relaxations
        if 'headroom' in wanted:
            keys['headroom'] = extras.headroom(isinstance(found, Offered))
    except Exception:
        LOG.exception('The answer to a request for a plan lacks the headroom '
                      'or the relaxations, because their search failed')
    return keys


def _planned(name: str, found: Offered) -> Mapping[str, Any]:
    bound, cost = found.bound, found.violations
    return {
        'status': 'planned', 'group': name,
        'placements': [
            {'member': path, 'host': cloud, 'node': cloud,
             'location': [cloud]}
            for cloud, paths in found.parts for path in paths],
        'objective': {
            'name': found.objective, 'value': found.value, 'bound': bound,
            'gap': None if bound is None else _gap(found.value, bound)},
        'preferences': [],
        # No better bound is known for the violations of several clouds.
        'preference_cost': {'value': cost, 'bound': 0.0,
                            'gap': _gap(cost, 0.0)}}


def _gap(value: float, bound: float) -> float:
    return (value - bound) / value if value else 0.0
