# SPDX-License-Identifier: Apache-2.0
"""Actions that servers of a group require, as clients see them."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.api.call import Call
from nova_holistic.api.policies import groups as rules
from nova_holistic.api.requests import microversions
from nova_holistic.api.views import reasons
from nova_holistic.model.action import Action
from nova_holistic.table.records import GroupRecord


def actions(call: Call, record: GroupRecord) -> dict[str, Any]:
    """The key of a group with its actions, in their order; nothing if the
    version of the request does not have it."""
    if not microversions.has(call.request, microversions.ACTIONS):
        return {}
    hosts = call.service.policy_enforcer.may_with(
        call.context, rules.SHOW_HOSTS, record)
    return {'actions': [
        _document(action, hosts) for action
        in call.service.table.actions.of_group(record.uuid)]}


def _document(action: Action, hosts: bool) -> Mapping[str, Any]:
    """:param hosts: whether the user may see names of hosts"""
    places = {'from_host': action.from_host,
              'to_host': action.to_host} if hosts else {}
    return {'member': action.member, 'instance_uuid': action.instance_uuid,
            'action': str(action.kind), 'state': str(action.state), **places,
            'from_flavor': action.from_flavor, 'to_flavor': action.to_flavor,
            'reasons': reasons.visible_reasons(action.reasons, hosts)}
