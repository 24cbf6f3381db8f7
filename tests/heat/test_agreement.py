# SPDX-License-Identifier: Apache-2.0
"""The reader of templates gives parameters and functions the values that Heat
gives them, as Heat's own classes evaluate them."""

import random

from heat.engine import environment
from heat.engine import function
from heat.engine import stack
from heat.engine import template
import pytest

from nova_holistic.documents.hot.conversion import convert
from nova_holistic.documents.hot.functions import Resolver
from nova_holistic.documents.hot.parameters import Parameters
from nova_holistic.documents.hot.template_files import TemplateSource
from nova_holistic.exceptions import InvalidDocument, Mistakes
from nova_holistic.heat.stacks import annotated_stack
from tests.heat.templates import HEAD

_REFUSED = 'refused'
KINDS = ('string', 'number', 'boolean', 'json', 'comma_delimited_list')
VALUES = (
    0, 1, -3, 2.5, 1.0, '', 'a', 'true', 'TRUE', ' yes', 'y', 'off', '0',
    '1', '-7', '+7', '1.5', '1e2', ' 5 ', '1_000', 'null', 'a,b', 'a, b',
    ' a ,b ', ',', ' ', '"x"', '{"a": 1}', '[1, 2]', '{a: 1}', '[a]',
    '{"a": "b"} ', '\n["x"]', '0x10', 'yes, no')
COLLECTIONS = ([], [1, 'a'], ['a,b', None], {}, {'a': [1, {'b': 'c'}]})
ALLOWED = (['a', 'b'], ['1', '7'], [1, 2])


NODE = HEAD + '''
parameters: {flavor: {type: string}}
resources:
  server:
    type: OS::Nova::Server
    properties: {flavor: {get_param: flavor}, image: a, networks: []}
'''


@pytest.fixture
def of_heat(heat):
    """A function that returns the value of a snippet as Heat evaluates it."""
    def value(declared, given, snippet):
        parsed = template.Template(
            {'heat_template_version': '2021-04-16', 'parameters': declared,
             'resources': {}},
            env=environment.Environment({'parameters': given}))
        shop = stack.Stack(heat.context, 'shop', parsed)
        try:
            shop.parameters.validate()
            found = parsed.parse(shop.defn, snippet)
            function.validate(found)
            return function.resolve(found)
        except Exception:
            return _REFUSED
    return value


def read(declared, given, snippet):
    """The value of a snippet as the reader evaluates it."""
    mistakes = Mistakes()
    try:
        resolver = Resolver(Parameters(declared, given, mistakes), mistakes)
        found = resolver.value(snippet, 'here')
        mistakes.must_be_none()
    except InvalidDocument:
        return _REFUSED
    return found


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('given', (True, False), ids=('given', 'default'))
def test_a_value_of_a_parameter_is_that_of_heat(of_heat, kind, given):
    # Heat also accepts lists and mappings as the text of their Python objects.
    for value in VALUES + (COLLECTIONS if kind != 'string' else ()):
        declared = {'p': {'type': kind, **(
            {} if given else {'default': value})}}
        values = {'p': value} if given else {}
        snippet = {'get_param': 'p'}
        assert repr(read(declared, values, snippet)) == repr(
            of_heat(declared, values, snippet)), value


@pytest.mark.parametrize('kind, allowed', [
    (kind, allowed) for kind in ('string', 'number', 'comma_delimited_list')
    # Heat converts all allowed values of a number.
    for allowed in (ALLOWED[1:] if kind == 'number' else ALLOWED)])
def test_the_same_values_are_allowed(of_heat, kind, allowed):
    declared = {'p': {'type': kind, 'constraints': [
        {'allowed_values': allowed}]}}
    for value in VALUES:
        snippet = {'get_param': 'p'}
        assert repr(read(declared, {'p': value}, snippet)) == repr(
            of_heat(declared, {'p': value}, snippet)), value


DECLARED = {
    's': {'type': 'string', 'default': 'm1.small'},
    'n': {'type': 'number', 'default': '3'},
    'b': {'type': 'boolean', 'default': 'yes'},
    'l': {'type': 'comma_delimited_list', 'default': 'a, b,,c'},
    'j': {'type': 'json', 'default': {'k': {'x': [1, 'z', None, True]},
                                      'n': None, '1': 'one'}},
    'm': {'type': 'json', 'default': '[1, "two", {"a": "b"}]'}}


class Snippets:
    """Random snippets of the functions that the reader evaluates."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def text(self, depth):
        """A snippet that should be text, or a number."""
        one = self._random.choice
        kind = one(('plain', 'param', 'path', 'replace', 'join'))
        if kind == 'plain' or not depth:
            return one(('', 'a', 'm1.', 'aba', '$x', 0, 2.5, True, None))
        if kind == 'param':
            return {'get_param': one('snb')}
        if kind == 'path':
            return {'get_param': one((
                ['l', 1], ['l', '-1'], ['l', self.text(depth - 1)],
                ['j', 'k', 'x', 1], ['j', '1'], ['j', 1], ['m', 1],
                ['m', '2', 'a'], ['m', ' 0'], ['j', 'n']))}
        if kind == 'replace':
            keys = self._random.sample(('a', 'b', 'ab', '$x', '.', ''), 2)
            return {'str_replace': {
                'template': one(('ab.a', '$x$xa', self.text(depth - 1))),
                'params': {key: self.text(depth - 1) for key in keys}}}
        return {'list_join': [one((',', '', self.text(depth - 1))), *(
            one(({'get_param': 'l'}, [self.text(depth - 1)] * 2, None, []))
            for _ in range(one((1, 2))))]}


def test_functions_have_the_values_of_heat(of_heat):
    snippets, accepted = Snippets(7), 0
    for _ in range(1500):
        snippet = snippets.text(3)
        found = read(DECLARED, {}, snippet)
        # The reader refuses a path to nothing, which is empty text in Heat.
        if found != _REFUSED:
            accepted += 1
            assert repr(found) == repr(of_heat(DECLARED, {}, snippet)), snippet
    assert accepted > 500


@pytest.mark.parametrize('flavor', [
    '{get_param: name}',
    '{str_replace: {template: "%index%-SIZE", params: {SIZE: "m%index%"}}}',
    '{str_replace: {template: "m%index%", params: {"%index%": tiny}}}',
    '{list_join: ["%index%", [a, b]]}'])
def test_an_index_is_inserted_where_heat_inserts_it(heat, flavor):
    text = HEAD + f'''
parameters: {{name: {{type: string, default: "x%index%"}}}}
resources:
  nodes:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      resource_def: {{type: node.yaml, properties: {{flavor: {flavor}}}}}
'''
    stack = heat.unvalidated(text, {'node.yaml': NODE}, {})
    inside = stack['nodes'].child_template().t['resources']
    document = convert(stack.t.t, {}, TemplateSource(
        annotated_stack.StackFiles(stack.t.files))).document
    (nodes,) = document['groups']
    assert {group['name']: group['members'][0]['flavor']
            for group in nodes['groups']} == {
        name: each['properties']['flavor'] for name, each in inside.items()}
