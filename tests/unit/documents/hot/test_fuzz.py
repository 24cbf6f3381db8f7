# SPDX-License-Identifier: Apache-2.0
"""Whatever a template says, it is read or refused, in bounded time."""

import pathlib
import random

from hypothesis import example
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import pytest

from nova_holistic.documents.definition import (
    read_definition, split_definition)
from nova_holistic.documents.text import load
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.group import Group
from tests.unit.documents.hot.templates import TYPES

SHOP = (pathlib.Path(__file__).parents[3] / 'data' / 'shop-hot.yaml'
        ).read_text()

NAMES = st.sampled_from(['a', 'b', 'sg', 'p', 'a-1', 'net'])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True),
    st.text(max_size=5), NAMES)


def calls(inner):
    """Functions of Heat, fed right and wrong."""
    return st.one_of(
        st.builds(lambda n: {'get_param': n}, NAMES),
        st.builds(lambda n: {'get_resource': n}, NAMES),
        st.builds(lambda v: {'list_join': v}, inner),
        st.builds(lambda t, p: {'str_replace': {'template': t, 'params': p}},
                  inner, st.dictionaries(st.text(max_size=2), inner,
                                         max_size=2)),
        st.dictionaries(st.sampled_from(
            ['get_param', 'get_attr', 'if', 'Fn::Join', 'str_replace']),
            inner, max_size=1))


VALUES = st.recursive(SCALARS, lambda inner: st.one_of(
    calls(inner), st.lists(inner, max_size=3),
    st.dictionaries(st.text(max_size=3), inner, max_size=3)), max_leaves=6)


def mapping(**values):
    return st.fixed_dictionaries({}, optional=values)


PROPERTIES = mapping(
    flavor=st.one_of(st.just('m1.small'), VALUES), availability_zone=VALUES,
    scheduler_hints=st.one_of(VALUES, mapping(group=VALUES)))
RESOURCE_DEF = mapping(
    type=st.one_of(st.just('OS::Nova::Server'), VALUES),
    properties=st.one_of(PROPERTIES, VALUES))
RESOURCES = st.one_of(
    VALUES,
    st.builds(lambda p: {'type': 'OS::Nova::Server', 'properties': p},
              PROPERTIES),
    st.builds(lambda p: {'type': 'OS::Heat::ResourceGroup', 'properties': p},
              mapping(count=st.one_of(st.integers(0, 3), VALUES),
                      index_var=VALUES, removal_policies=VALUES,
                      resource_def=RESOURCE_DEF)),
    st.builds(lambda p: {'type': 'OS::Nova::ServerGroup', 'properties': p},
              mapping(policies=VALUES, rules=VALUES)))
MEMBERS = st.lists(st.one_of(NAMES, VALUES, mapping(
    resource=NAMES, traits=VALUES, aggregates=VALUES, location=VALUES)),
    max_size=3)
RULES = st.lists(st.one_of(VALUES, mapping(
    type=st.sampled_from(['affinity', 'anti-affinity']), level=VALUES,
    weight=VALUES, between=st.lists(NAMES, max_size=2))), max_size=2)
ENTRIES = st.recursive(
    st.one_of(VALUES, mapping(members=MEMBERS, policies=RULES)),
    lambda inner: mapping(
        name=NAMES, members=MEMBERS, policies=RULES, relationships=RULES,
        groups=st.one_of(st.dictionaries(NAMES, inner, max_size=2),
                         st.lists(inner, max_size=2))), max_leaves=4)
PARAMETERS = mapping(type=st.sampled_from(
    ['string', 'number', 'boolean', 'json', 'comma_delimited_list']),
    default=VALUES, constraints=VALUES)
TEMPLATES = st.fixed_dictionaries(
    {'heat_template_version': st.just('2021-04-16')},
    optional={
        'resources': st.dictionaries(NAMES, RESOURCES, max_size=4),
        'parameters': st.dictionaries(NAMES, PARAMETERS, max_size=2),
        'groups': st.one_of(VALUES, st.dictionaries(
            NAMES, ENTRIES, max_size=2), st.lists(ENTRIES, max_size=2)),
        'outputs': VALUES})


def read_or_refuse(document, parameters):
    for read in (read_definition, split_definition):
        try:
            result = read(document, TYPES, parameters)
        except InvalidDocument as error:
            assert '\n' not in str(error)
            assert len(str(error)) < 2000
        else:
            assert isinstance(result, Group | tuple)


@settings(max_examples=400, deadline=None)
@given(TEMPLATES, st.dictionaries(NAMES, st.text(max_size=4), max_size=1))
@example({'heat_template_version': '2021-04-16', 'resources': {
    'a': {'type': 'OS::Nova::Server', 'properties': {
        'flavor': {'str_replace': {'template': 'aaa', 'params': {
            'a': 1.5, 'aa': True}}}}}}}, {})
def test_any_template_is_read_or_refused(document, parameters):
    read_or_refuse(document, parameters)


def steps(value, way=()):
    """Every way into the document."""
    yield way
    inner = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for step, below in inner:
        yield from steps(below, (*way, step))


WAYS = [way for way in steps(load(SHOP)) if way]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(WAYS), VALUES)
def test_a_good_template_with_one_thing_changed_is_read_or_refused(
        way, value):
    document = load(SHOP)
    found = document
    for step in way[:-1]:
        found = found[step]
    found[way[-1]] = value
    read_or_refuse(document, {'image': 'cirros'})


@pytest.mark.parametrize('seed', range(200))
def test_a_good_template_with_its_text_torn_is_read_or_refused(seed):
    chance = random.Random(seed)
    start = chance.randrange(len(SHOP))
    torn = SHOP[:start] + chance.choice(['', '{', '- ', '<<: ', '*gateway']) \
        + SHOP[start + chance.randrange(20):]
    try:
        document = load(torn)
    except InvalidDocument as error:
        assert '\n' not in str(error)
        return
    read_or_refuse(document, {})
