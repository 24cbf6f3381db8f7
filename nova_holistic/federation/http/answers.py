# SPDX-License-Identifier: Apache-2.0
"""Converts the documents of a child's answers to objects."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from nova_holistic.federation.child import (
    ChildGroup, ChildMember, Offer, Refusal, RefusalKind)
from nova_holistic.federation.errors import InvalidAnswer
from nova_holistic.federation.http.schemas import MAX_TEXT
from nova_holistic.model.plan import Reason

_TOLERANCE = 1e-5
"""Relative difference up to which a value counts as equal to its bound. The
solver lowers its bounds by about 2e-6, so that rounding errors cannot
invalidate them."""

_KINDS = {'unplaceable': RefusalKind.UNPLACEABLE,
          'unknown': RefusalKind.UNKNOWN,
          # The child has no such flavor, level, ...
          'error': RefusalKind.INVALID}


def offer(child: str, plan: Mapping[str, Any], members: int | None,
          expires: datetime) -> Offer | Refusal:
    """The offer of a plan, or the refusal.

    :param plan: a plan that is finished and matches the schema
    :param members: number of members that the plan must have; None: the
        number may vary
    :raises InvalidAnswer: the plan contradicts itself or the request
    """
    status = plan['status']
    if status != 'planned':
        return Refusal(child, _KINDS[status], reasons(child, plan),
                       plan.get('relaxations'))
    placed = {each['member'] for each in plan.get('placements', ())}
    if 'objective' not in plan or (
            members is not None and len(placed) != members):
        raise InvalidAnswer('the plan does not contain every member')
    objective = plan['objective']
    value, bound = objective['value'], objective.get('bound')
    cost = plan.get('preference_cost', {'value': 0.0})
    headroom = plan.get('headroom')
    most = headroom and headroom.get('at_most')
    if most is not None and most < headroom['at_least']:
        raise InvalidAnswer('the bounds of the headroom contradict each other')
    return Offer(
        child, cost['value'], objective['name'], value, bound,
        cost['value'] == 0 and bound is not None
        and value - bound <= _TOLERANCE * max(1.0, abs(value)),
        headroom and headroom['at_least'], expires, most)


def group(child: str, found: Mapping[str, Any],
          members: Sequence[Mapping[str, Any]] | None = None) -> ChildGroup:
    """A group of a child.

    :param found: a group that matches the schema
    :param members: its placements; None: they were not read
    :raises InvalidAnswer: the end of the lease is not a time, or a pointer
        names another member
    """
    return ChildGroup(
        child, found['id'], found['status'], found['task'] is None,
        dict(found['members']), _time(found['lease_expires_at']),
        None if members is None else tuple(
            ChildMember(each['member'], each['state'],
                        each.get('instance_uuid'), _pointer(each))
            for each in members),
        reasons(child, found), found.get('idempotency_key'),
        found.get('project_id'))


def _pointer(placement: Mapping[str, Any]) -> tuple[str, str] | None:
    """The cloud and the group UUID of a member; None: the child is not a
    parent."""
    if 'cloud' not in placement or 'pointer' not in placement:
        return None
    pointer = placement['pointer']
    if pointer['holistic_member'] != placement['member']:
        raise InvalidAnswer('a pointer names another member')
    return placement['cloud'], pointer['holistic_group']


def reasons(child: str, found: Mapping[str, Any]) -> tuple[Reason, ...]:
    """The reasons of a child, each with the name of the child.

    :param found: a group or a plan
    """
    texts = [(each['at'], each['message'])
             for each in found.get('reasons', ())]
    if not texts and found.get('message'):
        texts = [('', found['message'])]
    return tuple(reason(child, at, message) for at, message in texts)


def reason(child: str, at: str, message: str) -> Reason:
    """A reason of a child. Users may read its message, because the child has
    written it for the same user."""
    text = f'cloud {child}: {" ".join(message.split())[:MAX_TEXT]}'
    return Reason(at[:MAX_TEXT], text, names=(), hidden=(), public=text)


def _time(text: str | None) -> datetime | None:
    """The time in naive UTC; a text without an offset is in UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            return found
        return found.astimezone(timezone.utc).replace(tzinfo=None)
    # OverflowError: the time in UTC is before the year 1 or after 9999.
    except (ValueError, OverflowError):
        raise InvalidAnswer('the end of the lease is not a time') from None


def expiry(now: datetime, seconds: float) -> datetime:
    """The time at which an offer expires."""
    return now + timedelta(seconds=seconds)
