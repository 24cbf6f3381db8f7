# SPDX-License-Identifier: Apache-2.0
"""Schemas of the actions that servers of a group require."""

from nova_holistic.api.schemas import common
from nova_holistic.model.action import ActionKind, ActionState

APPLY = {
    'type': 'boolean',
    'title': 'Whether an engine carries out the actions that servers of the '
             'group require after the update.'}

ACTIONS = {'type': 'array', 'items': common.strict({
    'member': common.ANY_TEXT,
    'instance_uuid': common.ANY_TEXT,
    'action': {'enum': [str(kind) for kind in ActionKind]},
    'state': {'enum': [str(state) for state in ActionState]},
    'from_host': common.ANY_TEXT,
    'to_host': common.ANY_TEXT_OR_NULL,
    'from_flavor': common.ANY_TEXT_OR_NULL,
    'to_flavor': common.ANY_TEXT_OR_NULL,
    'reasons': {'type': 'array', 'items': common.REASON},
}, 'member', 'instance_uuid', 'action', 'state', 'from_flavor', 'to_flavor',
    'reasons')}
