# SPDX-License-Identifier: Apache-2.0
"""Writes the OpenAPI document of the API for sphinxcontrib-openapi.

It is the document of ``GET /v1/openapi.json``, with two additions: the
examples of ``api/examples.yaml``, and tables of the fields of each body,
because sphinxcontrib-openapi prints the names of fields only in examples.
"""

from collections.abc import Iterator, Mapping
import json
import pathlib
from typing import Any

import yaml

from nova_holistic.api.description import openapi
from nova_holistic.api.routes import ROUTES
from nova_holistic.api.url_mapping import UrlMapping
from nova_holistic.policies import load_policy_types

TAGS = {'discovery': 'Discovery', 'groups': 'Groups', 'members': 'Members',
        'bindings': 'Bindings', 'adoption': 'Existing servers',
        'events': 'Events', 'plans': 'Plans', 'hosts': 'Hosts',
        'federation': 'Federation'}
"""Modules of the handlers, in the order of the reference."""
JSON = 'application/json'

_Schema = Mapping[str, Any]


def document(examples: pathlib.Path) -> dict[str, Any]:
    """The OpenAPI document with examples and descriptions."""
    found = json.loads(json.dumps(
        openapi.describe(ROUTES, load_policy_types(), UrlMapping())))
    spoken = yaml.safe_load(examples.read_text())
    found['tags'] = [{'name': title} for title in TAGS.values()]
    for path, methods in found['paths'].items():
        for operation in methods.values():
            name = operation['operationId']
            operation['tags'] = [TAGS[name.partition('.')[0]]]
            operation['parameters'] = [
                {**each, 'description': _said(each, each['schema'])}
                for each in operation['parameters']]
            operation['description'] = '\n'.join(_description(operation))
            _add_examples(operation, [
                each for each in spoken if each['operation'] == name])
    # Bodies name the parts of group documents; the user guide has these.
    del found['components']['schemas']
    return _without_references(found)


def _add_examples(operation: dict[str, Any], examples: list) -> None:
    for status, response in operation['responses'].items():
        if not status.startswith('2'):
            # All errors have the body that the first section describes.
            response.pop('content', None)
        for media in response.get('content', {}).values():
            # A create has one body, whether or not an engine is done.
            mine = [each for each in examples
                    if 'response' in each and each['status'] == int(status)]
            if mine:
                media['examples'] = {'Example response': {
                    'value': mine[0]['response']}}
            else:
                response.pop('content')
                break
    body = operation.get('requestBody', {}).get('content', {}).get(JSON)
    if body is not None:
        body['examples'] = {'Example request': {
            'value': examples[0]['request']}}


def _description(operation: _Schema) -> Iterator[str]:
    policy = operation.get('x-policy')
    yield f'Policy: ``{policy}``.' if policy else 'No token is needed.'
    yield ''
    if 'requestBody' in operation:
        yield from _fields('Request', operation['requestBody'])
    tables: dict[tuple[str, ...], list[str]] = {}
    for status, response in operation['responses'].items():
        if status.startswith('2') and 'content' in response:
            tables.setdefault(tuple(_fields('', response)), []).append(status)
    for lines, statuses in tables.items():
        if lines:
            yield f'.. list-table:: Response ({", ".join(sorted(statuses))})'
            yield from lines[1:]


def _fields(title: str, body: _Schema) -> Iterator[str]:
    rows = list(_parts(body['content'][JSON]['schema']))
    if not rows:
        return
    yield f'.. list-table:: {title}'
    yield from ('   :header-rows: 1', '   :widths: 34 26 40', '')
    for cells in (('Field', 'Type', 'Meaning'), *(
            (f'``{place}``' + (' (required)' if required else ''),
             _kind(part), _said(part)) for place, part, required in rows)):
        for number, cell in enumerate(cells):
            yield f'   {"  -" if number else "* -"} {cell}'.rstrip()
    yield ''


def _parts(schema: _Schema, place: str = '',
           ) -> Iterator[tuple[str, _Schema, bool]]:
    """Every property, with its path in the body."""
    for name, part in schema.get('properties', {}).items():
        where = f'{place}.{name}' if place else name
        yield where, part, name in schema.get('required', ())
        yield from _parts(part, where)
        yield from _parts(part.get('items', {}), where + '[]')


def _kind(schema: _Schema) -> str:
    """The type of a value, with its bounds."""
    if '$ref' in schema:
        name = schema['$ref'].rpartition('/')[2]
        return f':doc:`{name} </user/group-documents>`'
    if 'enum' in schema:
        return ', '.join('null' if each is None else f'``{each}``'
                         for each in schema['enum'])
    kinds = schema.get('type', 'any')
    words = kinds if isinstance(kinds, str) else ' or '.join(kinds)
    if words == 'array' and schema.get('items'):
        words += ' of ' + _kind(schema['items'])
    bounds = [str(schema[key]) if key in schema else '' for key in (
        'minimum', 'maximum')]
    return words + (f', {" … ".join(bounds)}' if any(bounds) else '')


def _said(*schemas: _Schema) -> str:
    """The titles and descriptions of schemas, as one text."""
    said = [schema[key].rstrip('.') for schema in schemas
            for key in ('title', 'description') if key in schema]
    return '; '.join(dict.fromkeys(said)).replace('*', '\\*')


def _without_references(part: Any) -> Any:
    """The same document with any object in place of each reference."""
    if isinstance(part, dict):
        if '$ref' in part:
            return {'type': 'object'}
        return {key: _without_references(each) for key, each in part.items()}
    if isinstance(part, list):
        return [_without_references(each) for each in part]
    return part


def write(app) -> None:
    """Write ``_static/openapi.json`` of the source directory."""
    source = pathlib.Path(app.srcdir)
    (source / '_static').mkdir(exist_ok=True)
    (source / '_static/openapi.json').write_text(json.dumps(
        document(source / 'api/examples.yaml'), indent=1))


def setup(app) -> Mapping[str, Any]:
    app.connect('builder-inited', write)
    return {'version': '1', 'parallel_read_safe': True}
