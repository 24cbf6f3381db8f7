# SPDX-License-Identifier: Apache-2.0
"""The API reference has every route, with examples that its schemas accept."""

import importlib.util
import pathlib

import jsonschema
import pytest
import yaml

from nova_holistic.api.routes import ROUTES
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.policies import load_policy_types

DOC = pathlib.Path(__file__).parents[3] / 'doc'
EXAMPLES = DOC / 'source/api/examples.yaml'
ERRORS = DOC / 'source/api/index.rst'


@pytest.fixture(scope='module')
def reference():
    """The OpenAPI document of the reference."""
    spec = importlib.util.spec_from_file_location(
        'openapi_file', DOC / 'ext/openapi_file.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.document(EXAMPLES)


def operation(route):
    return (f'{route.handler.__module__.rpartition(".")[2]}.'
            f'{route.handler.__name__}')


@pytest.mark.parametrize('route', ROUTES, ids=operation)
def test_each_route_is_shown_with_its_requests_and_responses(
        reference, route):
    shown = reference['paths'][route.path.replace(':.+}', '}')][
        route.method.lower()]
    assert shown['operationId'] == operation(route)
    if route.body is not None:
        media = shown['requestBody']['content']['application/json']
        assert media['examples']
    bodies = [response['content']['application/json']['examples']
              for response in shown['responses'].values()
              if 'content' in response]
    assert len(bodies) == (1 if any(route.answers.values()) else 0) or (
        operation(route) == 'groups.repair')


@pytest.mark.parametrize(
    'example', yaml.safe_load(EXAMPLES.read_text()),
    ids=lambda each: each['operation'])
def test_the_schemas_accept_the_example(example):
    (route,) = [each for each in ROUTES
                if operation(each) == example['operation']]
    schema = route.answers[example['status']]
    if schema is None:
        assert 'response' not in example
    else:
        jsonschema.validate(example['response'], dict(schema))
    body = example.get('request')
    assert (body is None) == (route.body is None)
    if body is not None:
        jsonschema.validate(body, dict(route.body))
        if 'group' in body:
            parse_group({'group': body['group']}, load_policy_types())
