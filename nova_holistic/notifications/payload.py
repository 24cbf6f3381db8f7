# SPDX-License-Identifier: Apache-2.0
"""The payload of a notification: a versioned object, as in Nova.

A minor version adds a field; a major version removes or changes one.
"""

from typing import Any

from nova_holistic.table.history.events import Event

VERSION = '1.0'
NAME = 'EventPayload'
NAMESPACE = 'nova_holistic'


def event_type(event: Event) -> str:
    return f'holistic.{event.kind}'


def of_event(event: Event) -> dict[str, Any]:
    """The payload of an event. It contains names of hosts, because its
    consumers are services of the cloud."""
    return {
        'nova_holistic_object.name': NAME,
        'nova_holistic_object.namespace': NAMESPACE,
        'nova_holistic_object.version': VERSION,
        'nova_holistic_object.data': {
            'group_uuid': event.group_uuid,
            'member': event.member,
            'at': event.at.isoformat() + 'Z',
            'from_state': event.from_state,
            'to_state': event.to_state,
            'host': event.host,
            'reasons': [{'at': reason['at'], 'message': reason['message']}
                        for reason in event.reasons],
            'details': dict(event.details or {}),
            'service': event.service,
            'request_id': event.request_id,
            'user_id': event.user_id}}
