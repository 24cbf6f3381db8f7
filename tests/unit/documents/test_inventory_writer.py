# SPDX-License-Identifier: Apache-2.0
"""A snapshot that is written and read again leads to the same plans."""

from dataclasses import replace
import json
import pathlib

import pytest

from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.documents.inventories.writer import inventory_document
from nova_holistic.documents.source import text
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.cloud.snapshot import Link, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor
from tests.unit.builders import cloud, host

EXAMPLE = pathlib.Path(__file__).parents[3] / 'examples/two-zones.yaml'

ONE = FrozenMapping({'VCPU': 1})


def again(snapshot):
    """The snapshot after it was written as JSON and read again."""
    return parse_inventory(text.load(json.dumps(
        inventory_document(snapshot), allow_nan=False)))


def test_the_example_survives_a_round_trip():
    snapshot = parse_inventory(text.load(EXAMPLE.read_bytes()))
    assert again(snapshot) == snapshot


def test_every_key_survives_a_round_trip():
    first = replace(
        host('h1', 'r1', servers=3,
             traits=frozenset({'CUSTOM_B', 'CUSTOM_A'}),
             aggregates=frozenset({'ssd'}), availability_zone='z1',
             labels={'feed': 'A', 'availability_zone': 'z1'},
             statistics=FrozenMapping({'load': 0.5}),
             inventories={'VCPU': Inventory(64, 2, 4.0, 300, 2, 32, 2)}),
        node='h1.example.org', uuid='8d4f3a52-0b6c-4a0e-9a55-0d7a5a2a1b11')
    snapshot = replace(
        cloud(first, host('h2', 'r2', enabled=False)),
        links=(Link(('r1',), 1000, 20), Link(('A',), 50, 0, 'feed')),
        flavors=FrozenMapping({'tiny': Flavor('tiny', 'tiny', ONE)}))
    assert again(snapshot) == snapshot


def test_nested_providers_survive_a_round_trip():
    card = NestedProvider('8d4f3a52-0b6c-4a0e-9a55-0d7a5a2a1b12', 'card', '',
                          FrozenMapping({'VGPU': Inventory(4, used=1)}),
                          frozenset({'CUSTOM_A'}))
    function = NestedProvider('function', 'function', card.uuid,
                              FrozenMapping())
    # A parent precedes its children in the document.
    written = cloud(replace(host('h1', 'r1'), providers=(function, card)))
    (found,) = again(written).hosts
    assert found.providers == (card, function)


def test_nested_providers_of_equal_names_survive_a_round_trip():
    providers = tuple(NestedProvider(
        f'8d4f3a52-0b6c-4a0e-9a55-0d7a5a2a1b1{n}', 'card', '',
        FrozenMapping({'VGPU': Inventory(n)})) for n in range(2))
    (found,) = again(cloud(replace(
        host('h1', 'r1'), providers=providers))).hosts
    assert [(each.uuid, each.inventories) for each in found.providers] == [
        (each.uuid, each.inventories) for each in providers]


def test_a_zone_outside_the_tree_becomes_a_label():
    (found,) = again(cloud(host('h1', 'r1', availability_zone='z1'))).hosts
    assert found.availability_zone == 'z1'


def test_a_host_without_a_location_is_in_its_own_domain():
    snapshot = Snapshot(('rack', 'host'), (
        host('h1', ''), replace(host('h2', 'r'), location=()),
        host('h3', 'r1')))
    assert [each.location for each in again(snapshot).hosts] == [
        ('no-rack-of-h1',), ('no-rack-of-h2',), ('r1',)]


@pytest.mark.parametrize('fields', [
    {'required_traits': frozenset({'CUSTOM_A'})},
    {'forbidden_traits': frozenset({'CUSTOM_A'})},
    {'unplannable': 'it asks for a device'}])
def test_a_flavor_that_a_document_cannot_express_is_left_out(fields):
    plain = Flavor('plain', '1', ONE)
    odd = Flavor('odd', '2', ONE, **fields)
    snapshot = replace(cloud(host('h1', 'r1')), flavors=FrozenMapping({
        'plain': plain, '1': plain, 'odd': odd, '2': odd}))
    assert sorted(again(snapshot).flavors) == ['1', 'plain']
