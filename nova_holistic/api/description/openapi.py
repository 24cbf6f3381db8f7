# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI 3.1 description of the API, generated from the table of
routes."""

from collections.abc import Mapping, Sequence
from typing import Any

from nova_holistic.api.description.group_schemas import components
from nova_holistic.api.description.openapi_schema import openapi_schema
from nova_holistic.api.requests import entity_tags, idempotency, microversions
from nova_holistic.api.route import Route
from nova_holistic.api.schemas import bindings, common
from nova_holistic.api.url_mapping import UrlMapping
from nova_holistic.model.policy_types import PolicyTypes

_Document = dict[str, Any]

TITLES = {
    200: 'Done.', 201: 'Created, and no engine works on it.',
    202: 'Accepted: an engine works on it.', 204: 'Done.',
    400: 'The request is invalid.',
    401: 'No valid token.', 403: 'Not allowed, or over a limit.',
    404: 'Not found, or not found in this project.',
    406: 'The version or media type does not exist.',
    304: 'The client has the current representation.',
    409: 'Conflict with the current state.',
    412: 'The group has another revision.', 413: 'The body is too long.',
    415: 'The body is not JSON.', 428: 'If-Match is missing.',
    500: 'A fault of the service.',
    503: 'The database, Placement or the engines are unavailable.'}

_HEADERS = {
    idempotency.HEADER: {
        'schema': {'type': 'string', 'minLength': 1, 'maxLength': 255,
                   'pattern': f'^{idempotency.PATTERN}$'},
        'description': 'Key that the client chooses: a repeated create '
                       'request with the same key returns the same group.'},
    entity_tags.HEADER: {
        'schema': {'type': 'string', 'pattern': f'^{entity_tags.PATTERN}$'},
        'description': 'The revision of the group, or its ETag.'},
    'If-None-Match': {
        'schema': {'type': 'string'},
        'description': 'The response is 304 if its ETag is among these.'},
}
_VARIABLES = {
    'group_id': common.UUID, 'plan_id': common.UUID,
    'host': common.ANY_TEXT, 'child': common.ANY_TEXT,
    'path': common.ANY_TEXT, 'target': bindings.TARGET}


def describe(table: Sequence[Route], types: PolicyTypes,
             places: UrlMapping) -> Mapping[str, Any]:
    """
    :param types: policies and relationships that documents may name
    """
    paths: dict[str, _Document] = {}
    for route in table:
        if places.has(route.path):
            path = places.of(route.path).replace(':.+}', '}')
            paths.setdefault(path, {})[route.method.lower()] = _operation(
                route)
    return {
        'openapi': '3.1.0',
        'info': {'title': 'Holistic placement of groups of servers',
                 'version': microversions.MAX,
                 'license': {'name': 'Apache-2.0',
                             'identifier': 'Apache-2.0'}},
        'paths': paths,
        'components': {
            'schemas': components(types),
            'securitySchemes': {'token': {
                'type': 'apiKey', 'in': 'header', 'name': 'X-Auth-Token'}}},
    }


def _operation(route: Route) -> _Document:
    described_so = {
        'operationId': route.operation,
        'summary': (route.handler.__doc__ or '').partition('\n')[0],
        'parameters': _parameters(route),
        'responses': _responses(route)}
    if route.body is not None:
        described_so['requestBody'] = {
            'required': True, 'content': _content(route.body)}
    if route.since != microversions.MIN:
        described_so['x-since'] = route.since
    if route.rule is not None:
        described_so['security'] = [{'token': []}]
        described_so['x-policy'] = route.rule
    return described_so


def _parameters(route: Route) -> list[_Document]:
    names = [part.strip('{}').partition(':')[0]
             for part in route.path.split('/') if part.startswith('{')]
    return [
        *({'in': 'path', 'name': name, 'required': True,
           'schema': openapi_schema(_VARIABLES[name])} for name in names),
        *({'in': 'query', 'name': name, 'schema': openapi_schema(schema)}
          for name, schema in route.query['properties'].items()),
        *({'in': 'header', 'name': name, **_HEADERS[name],
           'required': route.method == 'PUT'} for name in (
               *route.headers,
               *(('If-None-Match',) if route.method == 'GET' else ()))),
        _version(route.since)]


def _version(since: str) -> _Document:
    """
    :param since: the first version that has the route
    """
    versions = microversions.VERSIONS
    described_so: _Document = {
        'in': 'header', 'name': microversions.HEADER,
        'description': 'Versions of other services in it are ignored.',
        'schema': {'type': 'string', 'examples': [
            f'{microversions.SERVICE_TYPE} {version}'
            for version in (*versions[versions.index(since):], 'latest')]}}
    if since == microversions.MIN:
        return described_so
    return {**described_so, 'required': True, 'description':
            f'At least {since}. {described_so["description"]}'}


def _responses(route: Route) -> _Document:
    statuses = {406, 500, 400}
    if route.rule is not None:
        statuses |= {401, 403, 503}
    if '{' in route.path or route.since != microversions.MIN:
        # Earlier versions of the API do not have the route.
        statuses.add(404)
    if route.body is not None:
        statuses |= {413, 415}
    if route.method not in ('GET', 'HEAD'):
        statuses.add(409)
    if entity_tags.HEADER in route.headers:
        statuses |= {412, 428} if route.method == 'PUT' else {412}
    return {
        **{str(status): _response(status, schema)
           for status, schema in route.answers.items()},
        **({'304': _response(304, None)} if route.method == 'GET' else {}),
        **{str(status): _response(status, common.ERRORS)
           for status in sorted(statuses)}}


def _response(status: int, schema: Any) -> _Document:
    response = {'description': TITLES[status]}
    if schema is not None:
        response['content'] = _content(schema)
    return response


def _content(schema: Any) -> _Document:
    return {'application/json': {'schema': openapi_schema(schema)}}
