# SPDX-License-Identifier: Apache-2.0
"""The command line merges environments and reads their types as Heat does."""

import copy
import json
import random

from heat.common import environment_util
from heat.engine import template

from nova_holistic.cli.heat_templates.environments import read_environment
from nova_holistic.cli.heat_templates.merged_environments import (
    MergedEnvironments)
from nova_holistic.exceptions import InvalidDocument

KINDS = {'s': 'string', 'l': 'comma_delimited_list', 'j': 'json'}
VALUES = {
    's': ('a', 'b', '', None),
    'l': ('a,b', 'c', '', ['d'], ['e', 'f'], [], None),
    'j': ({'a': 1}, {'a': {'b': [1], 'c': 'x'}}, {'d': 'y', 'a': {'c': 'z'}},
          {'a': {'b': [2], 'c': None, 'e': 3}}, '{"a": {"b": [4]}}', {}, None)}
STRATEGIES = ('overwrite', 'merge', 'deep_merge')
SECTIONS = ('parameters', 'parameter_defaults')


def merged_by_heat(environments):
    """The merged sections; None if Heat refuses the environments."""
    schemata = template.Template({
        'heat_template_version': '2021-04-16',
        'parameters': {name: {'type': kind} for name, kind in KINDS.items()},
        'resources': {}}).param_schemata()
    names = [str(number) for number in range(len(environments))]
    values = {'parameters': {}, 'parameter_defaults': {},
              'resource_registry': {}}
    try:
        environment_util.merge_environments(
            names, dict(zip(names, map(json.dumps, environments))), values,
            schemata)
    except Exception:
        return None
    return values


def merged(environments):
    """The merged sections; None if the command line refuses them."""
    found = MergedEnvironments(KINDS)
    try:
        for environment in environments:
            found.add(read_environment('env.yaml', environment))
    except InvalidDocument:
        return None
    return found.sections


def some_environments(rng):
    environments = []
    for _ in range(rng.randint(2, 3)):
        environment = {section: {
            name: copy.deepcopy(rng.choice(VALUES[name]))
            for name in rng.sample(sorted(KINDS), rng.randint(1, 3))}
            for section in rng.sample(SECTIONS, rng.randint(1, 2))}
        if rng.random() < 0.8:
            environment['parameter_merge_strategies'] = {
                name: rng.choice(STRATEGIES)
                for name in rng.sample(('default', *KINDS), rng.randint(1, 2))}
        environments.append(environment)
    return environments


def test_values_are_merged_as_heat_merges_them():
    rng, accepted = random.Random(5), 0
    for _ in range(3000):
        environments = some_environments(rng)
        found = merged(copy.deepcopy(environments))
        expected = merged_by_heat(environments)
        if found is None:
            # Null as the first value of a text is an error of Heat.
            assert expected is None, environments
        elif expected is not None:
            accepted += 1
            for section in SECTIONS:
                assert _values(found[section]) == _values(
                    expected[section]), environments
    assert accepted > 1000


def _values(section):
    """The values other than null; the text of JSON is read."""
    return {name: json.loads(value) if name == 'j' and isinstance(
        value, str) else value
        for name, value in section.items() if value is not None}
