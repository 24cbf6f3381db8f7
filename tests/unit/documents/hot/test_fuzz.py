# SPDX-License-Identifier: Apache-2.0
"""Any template is read or refused, in bounded time."""

import pathlib
import random

from hypothesis import example
from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.documents.definition import (
    read_definition, split_definition)
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.source.text import load
from nova_holistic.exceptions import InvalidDocument
from tests.effort import examples
from tests.unit.documents.hot.templates import TYPES

SHOP = (pathlib.Path(__file__).parents[3] / 'data' / 'shop-hot.yaml'
        ).read_text()

NAMES = st.sampled_from(['a', 'b', 'sg', 'p', 'a-1', 'net'])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True),
    st.text(max_size=5), NAMES)


def calls(inner):
    """Calls of Heat's functions with valid and invalid arguments."""
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


def mapping(required=None, **values):
    return st.fixed_dictionaries(required or {}, optional=values)


def mostly(*good):
    """A strategy that is usually valid, because one mistake hides all
    others."""
    return st.integers(0, 9).flatmap(
        lambda n: st.one_of(*good) if n else VALUES)


def resource(kind, properties):
    return mapping({'type': st.just(f'OS::{kind}'), 'properties': properties})


TEXTS = mostly(
    st.just('m1.small'), st.just('m%index%'), st.just({'get_param': 'p'}),
    st.just({'list_join': ['.', ['m1', {'get_param': 'p'}]]}),
    st.just({'str_replace': {'template': 'p', 'params': {
        'p': {'get_param': 'p'}}}}))
PROPERTIES = mapping(
    {'flavor': TEXTS}, availability_zone=TEXTS, name=VALUES,
    scheduler_hints=mostly(st.just({'group': {'get_resource': 'sg'}}),
                           mapping(query=VALUES)))
SERVER = resource('Nova::Server', PROPERTIES)
SERVERS = resource('Heat::ResourceGroup', mapping(
    {'resource_def': mostly(SERVER)}, count=mostly(st.integers(0, 3)),
    index_var=mostly(st.just('%i%')), removal_policies=mostly(st.just([]))))
SERVER_GROUP = resource('Nova::ServerGroup', mapping(
    policies=mostly(st.sampled_from([['affinity'], ['soft-affinity']])),
    rules=mostly(st.just({}))))
RESOURCES = st.fixed_dictionaries(
    {'a': SERVER, 'b': mostly(SERVER, SERVERS), 'sg': SERVER_GROUP},
    optional={'a-1': mostly(SERVERS), 'net': mostly(
        st.just({'type': 'OS::Neutron::Net'}))})
MEMBERS = st.lists(mostly(NAMES, mapping(
    {'resource': NAMES}, aggregates=mostly(st.just(['ssd'])),
    location=TEXTS, traits=mostly(st.just({'required': ['T']})))),
    max_size=2)
RULES = st.lists(mostly(mapping(
    {'type': st.sampled_from(['affinity', 'anti-affinity'])},
    level=mostly(st.just('rack')), weight=mostly(st.just(2)))), max_size=2)
SIDES = st.lists(st.sampled_from(['a', 'b', 'b-0', 'sg', 'b/a']),
                 min_size=2, max_size=2)
RELATIONSHIPS = st.lists(mostly(mapping(
    {'type': st.just('affinity'), 'between': mostly(SIDES)})), max_size=1)
ENTRIES = st.recursive(
    mapping({'members': MEMBERS}, policies=RULES),
    lambda inner: mapping(
        {'members': MEMBERS}, policies=RULES, relationships=RELATIONSHIPS,
        groups=mostly(st.dictionaries(NAMES, inner, min_size=1, max_size=2))),
    max_leaves=3)
PARAMETERS = mapping(
    {'type': st.sampled_from(['string', 'string', 'string', 'number', 'json',
                              'boolean', 'comma_delimited_list']),
     'default': mostly(st.just('1'))}, constraints=mostly(st.just(
         [{'length': {'min': 1}}, {'allowed_values': ['1', 'x']}])))
TEMPLATES = st.fixed_dictionaries(
    {'heat_template_version': st.just('2021-04-16'), 'resources': RESOURCES,
     'parameters': st.fixed_dictionaries({'p': PARAMETERS})},
    optional={
        'groups': mostly(
            st.dictionaries(NAMES, ENTRIES, max_size=2),
            st.lists(st.builds(lambda n, e: {**e, 'name': n}, NAMES, ENTRIES),
                     max_size=2)),
        'outputs': VALUES})
GIVEN = st.one_of(st.just({}), st.dictionaries(
    NAMES, st.text(max_size=4), max_size=1))


def read_or_refuse(document, parameters):
    """Read a template. If it is accepted, the group document split from it has
    the same content."""
    try:
        group = read_definition(document, TYPES, parameters)
        split, _ = split_definition(document, TYPES, parameters)
    except InvalidDocument as error:
        assert '\n' not in str(error)
        assert len(str(error)) < 2000
    else:
        assert group.all_members()
        assert parse_group(split, TYPES) == group


@examples(400)
@given(TEMPLATES, GIVEN)
@example({'heat_template_version': '2021-04-16', 'resources': {
    'a': {'type': 'OS::Nova::Server', 'properties': {
        'flavor': {'str_replace': {'template': 'aaa', 'params': {
            'a': 1.5, 'aa': True}}}}}}}, {})
def test_any_template_is_read_or_refused(document, parameters):
    read_or_refuse(document, parameters)


def steps(value, way=()):
    """Every path into the document."""
    yield way
    inner = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for step, below in inner:
        yield from steps(below, (*way, step))


WAYS = [way for way in steps(load(SHOP)) if way]


@examples(400)
@given(st.sampled_from(WAYS), VALUES)
def test_a_template_with_one_changed_value_is_read_or_refused(
        way, value):
    document = load(SHOP)
    found = document
    for step in way[:-1]:
        found = found[step]
    found[way[-1]] = value
    read_or_refuse(document, {'image': 'cirros'})


@pytest.mark.parametrize('seed', range(200))
def test_a_template_with_missing_text_is_read_or_refused(seed):
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
