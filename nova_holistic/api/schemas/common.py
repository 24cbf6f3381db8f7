# SPDX-License-Identifier: Apache-2.0
"""Common parts of the schemas."""

from typing import Any

from nova_holistic.documents.schemas import common

MAX_SECONDS = 2**31 - 1
"""Maximum wait or lease that is accepted as a number."""

TEXT = common.TEXT

UUID = {
    'type': 'string',
    'description': 'a UUID in lower case, with hyphens',
    'pattern': r'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z',
}
STACK = {
    'type': 'string',
    'description': 'the name or the ID of a stack of Heat',
    'pattern': r'^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}\Z',
}
TIME = {'type': 'string', 'description': 'ISO 8601, in UTC',
        'format': 'date-time'}
TIME_OR_NULL = {**TIME, 'type': ['string', 'null']}
ANY_TEXT = {'type': 'string'}
ANY_TEXT_OR_NULL = {'type': ['string', 'null']}
ANY_OBJECT = {'type': 'object'}

WAIT = {
    'type': 'integer', 'minimum': 0, 'maximum': 3600,
    'title': 'Seconds to wait for the plan; 0 means no wait.'}


def strict(properties: dict[str, Any],
           *required: str, **more: Any) -> dict[str, Any]:
    """An object of these properties and no others."""
    return {'type': 'object', 'additionalProperties': False,
            'properties': properties, 'required': list(required), **more}


def whole(properties: dict[str, Any]) -> dict[str, Any]:
    """An object of all these properties and no others."""
    return strict(properties, *properties)


def enveloped(name: str, inner: dict[str, Any],
              **others: dict[str, Any]) -> dict[str, Any]:
    """An object whose only required property is the inner object."""
    return strict({name: inner, **others}, name)


LINKS = {'type': 'array', 'items': whole(
    {'rel': ANY_TEXT, 'href': {**ANY_TEXT, 'format': 'uri'}})}

REASON = whole({'at': ANY_TEXT, 'message': ANY_TEXT})

NOTHING = strict({})
"""A query without parameters, or an empty object."""

ERRORS = enveloped('errors', {
    'type': 'array', 'minItems': 1, 'items': whole({
        'status': {'type': 'integer'},
        'request_id': ANY_TEXT,
        'code': ANY_TEXT,
        'title': ANY_TEXT,
        'detail': ANY_TEXT})})
"""The response to a refused request."""
