# SPDX-License-Identifier: Apache-2.0
"""Inventory documents: their defaults, the positions of errors, and the speed
of reading."""

import gc
import json
import pathlib

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.documents.inventories import inventory
from nova_holistic.documents.inventories.inventory import parse_inventory
from nova_holistic.documents.source import text
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Link
from tests.effort import examples

DATA = pathlib.Path(__file__).parents[2] / 'data'

CLOUD = '''
levels: [az, rack, host]
hosts:
  - name: cmp-1
    node: cmp-1.example.org
    uuid: 6F1D9C5E-08DC-4A3C-9B0B-7A1B2C3D4E5F
    location: [az1, rack1]
    resources:
      VCPU: {total: 64, reserved: 4, allocation_ratio: 4.0, used: 12,
             min_unit: 2, max_unit: 32, step_size: 2}
      MEMORY_MB: {total: 1024}
    traits: [HW_CPU_X86_AVX2]
    aggregates: [ssd]
    labels: {power_feed: A}
    servers: 3
    enabled: false
  - {name: cmp-2, location: [az1, rack1], resources: {}}
links:
  - {domain: az1/rack1, uplink_mbps: 40000, used_mbps: 10}
  - {level: power_feed, domain: A, uplink_mbps: 500}
flavors:
  m1.small: {VCPU: 1, MEMORY_MB: 2048}
'''


def changed(place, value):
    document = text.load(CLOUD)
    *way, last = place
    found = document
    for step in way:
        found = found[step]
    found[last] = value
    return document


def refusal(document):
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory(document)
    assert '\n' not in str(caught.value)
    return caught.value


def test_a_complete_inventory_is_read():
    snapshot = parse_inventory(text.load(CLOUD))
    assert snapshot.levels == ('az', 'rack', 'host')
    first, second = snapshot.hosts
    assert first.inventories['VCPU'] == Inventory(
        total=64, reserved=4, allocation_ratio=4.0, used=12, min_unit=2,
        max_unit=32, step_size=2)
    assert (first.node, first.servers, first.enabled) == (
        'cmp-1.example.org', 3, False)
    assert first.uuid == '6f1d9c5e-08dc-4a3c-9b0b-7a1b2c3d4e5f'
    assert first.location == ('az1', 'rack1')
    assert first.traits == {'HW_CPU_X86_AVX2'}
    assert first.aggregates == {'ssd'}
    assert dict(first.labels) == {'power_feed': 'A'}
    assert snapshot.links == (Link(('az1', 'rack1'), 40000, 10),
                              Link(('A',), 500, 0, 'power_feed'))
    assert dict(snapshot.flavors['m1.small'].resources) == {
        'VCPU': 1, 'MEMORY_MB': 2048}
    assert (second.node, second.uuid, second.servers, second.enabled) == (
        'cmp-2', '', 0, True)


def test_an_inventory_has_placements_defaults():
    snapshot = parse_inventory(text.load(CLOUD))
    assert snapshot.hosts[0].inventories['MEMORY_MB'] == Inventory(
        total=1024, reserved=0, allocation_ratio=1.0, used=0, min_unit=1,
        max_unit=2**31 - 1, step_size=1)


def test_the_example_of_two_zones_is_read():
    snapshot = parse_inventory(
        text.load((DATA / 'two-zones.yaml').read_text()))
    assert len(snapshot.hosts) == 12
    racks = {snapshot.domain(h, 'rack').path for h in snapshot.hosts}
    assert len(racks) == 6
    last = snapshot.hosts[-1]
    assert (last.name, last.availability_zone) == ('z2r3h2', 'az2')
    # 16 x 2.0 - 7, with the numbers of the file.
    assert last.inventories['VCPU'].free == 25


@pytest.mark.parametrize('levels, location, labels, zone', [
    (['az', 'host'], ['az1'], {'availability_zone': 'az2'}, 'az1'),
    (['rack', 'host'], ['r1'], {'availability_zone': 'az2'}, 'az2'),
    (['rack', 'host'], ['r1'], {'az': 'az3'}, 'az3'),
    (['rack', 'host'], ['r1'], {'power_feed': 'A'}, None)])
def test_the_zone_comes_from_the_tree_or_a_label(
        levels, location, labels, zone):
    snapshot = parse_inventory({'levels': levels, 'hosts': [{
        'name': 'a', 'location': location, 'labels': labels,
        'resources': {}}]})
    assert snapshot.hosts[0].availability_zone == zone


def test_a_flat_cloud_needs_no_locations():
    snapshot = parse_inventory({
        'levels': ['host'], 'hosts': [{'name': 'a', 'resources': {}}]})
    assert snapshot.hosts[0].location == ()


HOST = ('hosts', 0)
VCPU = ('hosts', 0, 'resources', 'VCPU')


@pytest.mark.parametrize('at, value, place', [
    (('level',), [], 'level'),
    (('levels',), [], 'levels'),
    (('levels',), ['host', 'rack', 'host'], 'levels'),
    (('levels',), ['az', 'host', 'rack'], 'levels[2]'),
    (('levels',), ['az', 'host'], 'hosts[0].location'),
    (('levels', 0), 'a/z', 'levels[0]'),
    (('hosts',), {}, 'hosts'),
    (('hosts', 1), {'name': 'b'}, 'hosts[1]'),
    (('hosts', 1, 'name'), 'cmp-1', 'hosts[1].name'),
    (('hosts', 1, 'uuid'), '6f1d9c5e-08dc-4a3c-9b0b-7a1b2c3d4e5f',
     'hosts[1].uuid'),
    (('hosts', 1, 'uuid'), 'cmp-2', 'hosts[1].uuid'),
    ((*HOST, 'name'), 'a/b', 'hosts[0].name'),
    ((*HOST, 'rack'), 'r1', 'hosts[0].rack'),
    ((*HOST, 'location'), ['az1'], 'hosts[0].location'),
    ((*HOST, 'location'), ['az1', ''], 'hosts[0].location[1]'),
    ((*HOST, 'labels'), {'rack': 'r2'}, 'hosts[0].labels.rack'),
    ((*HOST, 'labels'), {'power_feed': 1}, 'hosts[0].labels.power_feed'),
    ((*HOST, 'traits'), ['avx2'], 'hosts[0].traits[0]'),
    ((*HOST, 'servers'), -1, 'hosts[0].servers'),
    ((*HOST, 'enabled'), 'yes', 'hosts[0].enabled'),
    ((*HOST, 'resources'), {'CPU': {'total': 1}}, 'hosts[0].resources.CPU'),
    ((*VCPU, 'total'), -1, 'hosts[0].resources.VCPU.total'),
    ((*VCPU, 'total'), 2**31, 'hosts[0].resources.VCPU.total'),
    ((*VCPU, 'reserved'), 65, 'hosts[0].resources.VCPU.reserved'),
    ((*VCPU, 'used'), -1, 'hosts[0].resources.VCPU.used'),
    ((*VCPU, 'used'), 1.5, 'hosts[0].resources.VCPU.used'),
    ((*VCPU, 'allocation_ratio'), 0,
     'hosts[0].resources.VCPU.allocation_ratio'),
    ((*VCPU, 'allocation_ratio'), float('nan'),
     'hosts[0].resources.VCPU.allocation_ratio'),
    ((*VCPU, 'step_size'), 0, 'hosts[0].resources.VCPU.step_size'),
    ((*VCPU, 'free'), 3, 'hosts[0].resources.VCPU.free'),
    (VCPU, {'used': 3}, 'hosts[0].resources.VCPU'),
    (('links', 0, 'domain'), 'az1/rack9', 'links[0].domain'),
    (('links', 0, 'uplink_mbps'), -1, 'links[0].uplink_mbps'),
    (('links',), [{'domain': 'az1', 'uplink_mbps': 1}] * 2,
     'links[1].domain'),
    (('links', 1, 'domain'), 'B', 'links[1].domain'),
    (('links', 1, 'level'), 'rack', 'links[1].level'),
    (('links', 1, 'level'), 'feed', 'links[1].domain'),
    (('flavors', 'm1.small'), {'VCPU': -1}, "flavors['m1.small'].VCPU"),
])
def test_an_error_names_its_position(at, value, place):
    assert refusal(changed(at, value)).place == place


@pytest.mark.parametrize('providers, place', [
    ([{'name': 'a', 'resources': {}}, {'name': 'a', 'resources': {}}],
     'hosts[0].providers[1].name'),
    ([{'name': 'b', 'parent': 'a', 'resources': {}},
      {'name': 'a', 'resources': {}}], 'hosts[0].providers[0].parent'),
    ([{'name': 'a'}], 'hosts[0].providers[0]'),
    ([{'name': 'a', 'resources': {'VGPU': {'total': 1, 'reserved': 2}}}],
     'hosts[0].providers[0].resources.VGPU.reserved'),
    ([{'name': 'a', 'resources': {'VGPU': {'total': 1.0}}}],
     'hosts[0].providers[0].resources.VGPU.total'),
    ([{'name': 'a', 'resources': {'GPU': {'total': 1}}}],
     'hosts[0].providers[0].resources.GPU'),
])
def test_an_error_in_a_nested_provider_names_its_position(providers, place):
    assert refusal(changed(
        ['hosts', 0, 'providers'], providers)).place == place


@pytest.mark.parametrize('host', [0, 1])
def test_providers_have_different_uuids(host):
    one = '7f1d9c5e-08dc-4a3c-9b0b-7a1b2c3d4e5f'
    document = changed(['hosts', 0, 'providers'], [
        {'name': 'a', 'uuid': one, 'resources': {}}])
    document['hosts'][host].setdefault('providers', []).append(
        {'name': 'b', 'uuid': one.upper(), 'resources': {}})
    found = refusal(document)
    position = len(document['hosts'][host]['providers']) - 1
    assert str(found) == (
        f'hosts[{host}].providers[{position}].uuid: {one!r} is already the '
        'uuid of hosts[0].providers[0]')


def test_a_provider_does_not_have_the_uuid_of_its_host():
    document = changed(['hosts', 0, 'providers'], [
        {'name': 'a', 'uuid': changed(['levels'], [])['hosts'][0]['uuid'],
         'resources': {}}])
    assert refusal(document).message.endswith(
        'is already the uuid of hosts[0]')


def test_ten_thousand_hosts_are_read():
    snapshot = parse_inventory({'levels': ['rack', 'host'], 'hosts': [
        {'name': f'cmp-{n}', 'location': [f'r{n % 300}'],
         'resources': {'VCPU': {'total': 64}}} for n in range(10_000)]})
    assert len(snapshot.hosts) == 10_000


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats()
    | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3)
    | st.dictionaries(st.text(max_size=5) | st.integers(), below, max_size=3),
    max_leaves=10)


@examples(300)
@given(st.sampled_from([
    ('levels',), ('hosts',), HOST, VCPU, (*VCPU, 'total'), (*HOST, 'labels'),
    (*HOST, 'location'), ('links', 0), ('links', 0, 'domain'), ('flavors',),
    (*HOST, 'uuid')]), junk)
def test_arbitrary_content_is_refused_in_one_line(at, value):
    try:
        parse_inventory(changed(at, value))
    except InvalidDocument as error:
        assert '\n' not in str(error)


def test_a_flavor_with_zero_disk_requests_no_disk():
    snapshot = parse_inventory({
        'levels': ['host'], 'hosts': [],
        'flavors': {'diskless': {'VCPU': 1, 'DISK_GB': 0}}})
    assert dict(snapshot.flavors['diskless'].resources) == {'VCPU': 1}


def test_statistics_of_a_host_are_read():
    snapshot = parse_inventory({'levels': ['host'], 'hosts': [
        {'name': 'a', 'resources': {},
         'statistics': {'cpu_temperature': 61.5, 'fans': 4}},
        {'name': 'b', 'resources': {}}]})
    assert [dict(host.statistics) for host in snapshot.hosts] == [
        {'cpu_temperature': 61.5, 'fans': 4.0}, {}]


@pytest.mark.parametrize('name, value, place', [
    ('heat', True, '.heat'), ('heat', '61', '.heat'), ('heat', None, '.heat'),
    ('heat', float('nan'), '.heat'), ('heat', float('inf'), '.heat'),
    ('heat', -float('inf'), '.heat'), ('heat', 10**400, '.heat'),
    ('a b', 1, ''), ('', 1, '')])
def test_invalid_statistics_are_refused(name, value, place):
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory({'levels': ['host'], 'hosts': [
            {'name': 'a', 'resources': {}, 'statistics': {name: value}}]})
    assert caught.value.place.startswith(f'hosts[0].statistics{place}')


def large(number, **changes):
    return {'levels': ['rack', 'host'], 'hosts': [{
        'name': f'h{n}', 'location': [f'r{n // 40}'],
        'resources': {'VCPU': {'total': 64, 'allocation_ratio': 4.0,
                               'used': 1}}, **changes}
        for n in range(number)]}


def test_a_large_inventory_in_json_needs_neither_yaml_nor_the_validator(
        monkeypatch):
    def refused(*args):
        raise AssertionError('the slow way')

    monkeypatch.setattr(text, '_load_yaml', refused)
    monkeypatch.setattr(inventory, '_check_shape', refused)
    content = json.dumps(large(10_000)).encode()
    assert len(parse_inventory(text.load(content)).hosts) == 10_000


@pytest.mark.parametrize('changes, place', [
    ({'servers': 1.0}, 'servers'),
    ({'resources': {'VCPU': {'total': 4.0}}}, 'resources.VCPU.total'),
    ({'enabled': 1}, 'enabled')])
def test_the_quick_check_accepts_only_what_the_validator_accepts(changes,
                                                                 place):
    with pytest.raises(InvalidDocument) as caught:
        parse_inventory(large(1, **changes))
    assert caught.value.place == f'hosts[0].{place}'


def test_a_large_inventory_is_read_without_garbage_collections():
    hosts = [{'name': f'cmp-{i}', 'location': ['r1'],
              'resources': {'VCPU': {'total': 8, 'used': i % 8}}}
             for i in range(2_000)]
    content = json.dumps({'levels': ['rack', 'host'], 'hosts': hosts})
    collections = []
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.callbacks.append(lambda phase, info: collections.append(info))
    try:
        snapshot = parse_inventory(text.load(content))
    finally:
        gc.callbacks.pop()
        gc.set_threshold(*before)
    assert len(snapshot.hosts) == 2_000
    # A collection may begin before and after the two functions.
    assert len(collections) <= 4
