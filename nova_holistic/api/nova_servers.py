# SPDX-License-Identifier: Apache-2.0
"""Check create requests to Nova that have a pointer to a planned member, or
name a server group or a Heat stack that is bound to one.

nova-scheduler also refuses an invalid pointer, but only after the server
exists, which then goes to ERROR. This check rejects the request itself.
"""

from collections.abc import Callable, Mapping
import json
from typing import Any

from oslo_log import log as logging

from nova_holistic.documents.validation import brief
from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.hinted import hinted
from nova_holistic.scheduler.pointer import (
    GROUP_HINT, has_pointer, MEMBER_HINT, must_agree, Pointer)
from nova_holistic.table.changes.claim import CLAIMABLE
from nova_holistic.table.errors import TableError
from nova_holistic.table.queries.pointer_target import (
    pointed_at, PointerTarget)
from nova_holistic.table.records import MemberState
from nova_holistic.table.store import PlacementTable

LOG = logging.getLogger(__name__)

MayGrow = Callable[[PlacementTable, Pointer], bool]

HINTS = ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints')
"""Keys of the body; if both are present, Nova uses the first."""


def check(table: PlacementTable, project_id: str, raw: bytes,
          may_grow: MayGrow) -> None:
    """
    :param may_grow: whether nova-scheduler may place a further server there
    :param raw: body of the request; a body that Nova itself rejects is passed
        to Nova
    :raises RequestRefused: the pointer refers to a member that the server
        cannot use
    """
    body = _parsed(raw)
    hints = next((body[key] for key in HINTS if key in body), None)
    if not isinstance(hints, dict):
        return
    try:
        pointer = _pointer(table, hints, project_id)
        target = pointer and pointed_at(
            table.database, pointer.group, pointer.member)
    except TableError as error:
        # nova-scheduler checks the pointer as well.
        LOG.warning('The pointer of a request is passed to Nova unchecked: '
                    '%s', error)
        return
    if pointer is None:
        return
    if not has_pointer(hints) and not _has(target, project_id):
        # Nova states that the project has no such server group.
        return
    _must_have(pointer, target, project_id)
    try:
        if not _is_enough(target, _count(body.get('server'))) and not may_grow(
                table, pointer):
            raise RequestRefused(_too_few(
                pointer, target, _count(body.get('server'))))
    except TableError as error:
        LOG.warning('The pointer of a request is passed to Nova unchecked: '
                    '%s', error)


def _pointer(table: PlacementTable, hints: Mapping[str, Any],
             project_id: str) -> Pointer | None:
    """The pointer in the hints, or the pointer of the bound server group or
    stack that the hints name."""
    if has_pointer(hints):
        for name in (GROUP_HINT, MEMBER_HINT):
            _must_be_text(name, hints.get(name, ''))
        must_agree(table.bindings, hints)
        return Pointer.from_hints(hints)
    named = hinted(hints, project_id)
    bound = named and table.bindings.pointed(named)
    return Pointer(bound.group_uuid, bound.path) if bound else None


def _parsed(raw: bytes) -> Mapping[str, Any]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _must_be_text(name: str, value: Any) -> None:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str) for each in values):
        raise RequestRefused(f'{name} must be text')


def _must_have(pointer: Pointer, target: PointerTarget | None,
               project_id: str) -> None:
    # The response does not reveal whether another project has the group.
    if not _has(target, project_id):
        raise RequestRefused(
            f'group {pointer.group} is not known in this project')


def _has(target: PointerTarget | None, project_id: str) -> bool:
    return target is not None and target.project_id == project_id


def _is_enough(target: PointerTarget, count: int) -> bool:
    return target.status in CLAIMABLE and target.states.get(
        MemberState.PLANNED, 0) >= count


def _too_few(pointer: Pointer, target: PointerTarget, count: int) -> str:
    if not target.states:
        return (f'group {pointer.group} is {target.status} and has no member '
                f'{brief(pointer.member)}')
    planned = target.states.get(MemberState.PLANNED, 0)
    if planned >= count:
        return f'group {pointer.group} is {target.status}'
    member = f'member {brief(pointer.member)} of group {pointer.group}'
    if sum(target.states.values()) == 1:
        (state,) = target.states
        if state != MemberState.PLANNED:
            return f'{member} is {state}'
    return (f'{count} servers are requested, but only {planned} servers of '
            f'{member} are planned')


def _count(server: Any) -> int:
    """Number of servers that the request creates: all or none get their
    planned hosts. Nova rejects a value that is not a number."""
    try:
        least = int(server.get('min_count', 1))
        return max(1, int(server.get('max_count', least)))
    except (AttributeError, TypeError, ValueError, OverflowError):
        return 1
