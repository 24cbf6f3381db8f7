# SPDX-License-Identifier: Apache-2.0
"""``.. api-reference::``: the API, from the description that it serves.

The very OpenAPI document of ``GET /v1/openapi.json`` becomes text when the
manual is built, so that the two cannot differ.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.util.nodes import nested_parse_with_titles

from nova_holistic.api.description import openapi
from nova_holistic.api.places import Places
from nova_holistic.api.routes import ROUTES
from nova_holistic.policies import load_policy_types

_TITLES = {'discovery': 'Discovery', 'groups': 'Groups',
           'members': 'Members', 'events': 'Events', 'plans': 'Plans',
           'hosts': 'Hosts'}
"""Modules of the handlers, in the order of the reference."""

_Schema = Mapping[str, Any]


class ApiReference(Directive):
    """A section for each operation, below one for each noun."""

    def run(self) -> list[nodes.Node]:
        document = openapi.describe(ROUTES, load_policy_types(), Places())
        text = StringList(list(_lines(document)), source='api-reference')
        found = nodes.section()
        found.document = self.state.document
        nested_parse_with_titles(self.state, text, found)
        return found.children


def _lines(document: _Schema) -> Iterator[str]:
    operations = [(method.upper(), path, operation)
                  for path, methods in document['paths'].items()
                  for method, operation in methods.items()]
    for module, title in _TITLES.items():
        yield from (title, '-' * len(title), '')
        for method, path, operation in operations:
            if operation['operationId'].startswith(module + '.'):
                yield from _operation(method, path, operation)
    left = [o['operationId'] for *_, o in operations
            if o['operationId'].partition('.')[0] not in _TITLES]
    if left:
        raise ValueError(f'the reference has no section for {left}')


def _operation(method: str, path: str, operation: _Schema) -> Iterator[str]:
    title = f'{method} {path}'
    yield from (title, '~' * len(title), '', operation['summary'], '')
    policy = operation.get('x-policy')
    yield (f'Policy: ``{policy}``.' if policy else 'No token is needed.')
    yield ''
    rows = [(f'``{each["name"]}``', each['in'] + (
        ', required' if each.get('required') else ''),
        _kind(each['schema']), _said(each, each['schema']))
        for each in operation['parameters']
        if each['name'] != 'OpenStack-API-Version']
    yield from _table('Parameters', ('Name', 'In', 'Type', 'Meaning'), rows)
    if 'requestBody' in operation:
        yield from _body('Request', operation['requestBody'])
    answers: dict[str, tuple[list[str], _Schema]] = {}
    for status, answer in operation['responses'].items():
        if status.startswith('2') and 'content' in answer:
            answers.setdefault(repr(answer['content']), ([], answer))[
                0].append(status)
    for statuses, answer in answers.values():
        yield from _body('Answer ' + ', '.join(sorted(statuses)), answer)
    yield from _table('Statuses', ('Status', 'Meaning'), [
        (status, answer['description'])
        for status, answer in sorted(operation['responses'].items())])


def _body(title: str, body: _Schema) -> Iterator[str]:
    schema = body['content']['application/json']['schema']
    yield from _table(title, ('Key', 'Type', 'Meaning'), [
        (f'``{place}``' + (', required' if required else ''),
         _kind(part), _said(part))
        for place, part, required in _parts(schema)])


def _parts(schema: _Schema, place: str = '',
           ) -> Iterator[tuple[str, _Schema, bool]]:
    """Every property, by the way to it."""
    for name, part in schema.get('properties', {}).items():
        where = f'{place}.{name}' if place else name
        yield where, part, name in schema.get('required', ())
        yield from _parts(part, where)
        yield from _parts(part.get('items', {}), where + '[]')


def _kind(schema: _Schema) -> str:
    """Its type, in a few words."""
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
    """What the schemas say of it."""
    said = [schema[key].rstrip('.') for schema in schemas
            for key in ('title', 'description') if key in schema]
    return '; '.join(dict.fromkeys(said)).replace('*', '\\*')


def _table(title: str, head: tuple[str, ...],
           rows: list[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    yield from (f'.. list-table:: {title}', '   :header-rows: 1', '')
    for row in (head, *rows):
        for i, cell in enumerate(row):
            yield f'   {"* -" if i == 0 else "  -"} {cell}'
    yield ''


def setup(app) -> Mapping[str, Any]:
    app.add_directive('api-reference', ApiReference)
    return {'version': '1', 'parallel_read_safe': True}
