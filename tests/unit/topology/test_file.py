# SPDX-License-Identifier: Apache-2.0
"""Hosts have the locations in a file."""

import pytest

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.model.cloud.snapshot import Link
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.base import Aggregate, Location
from nova_holistic.topology.file import FileTopology
from nova_holistic.topology.option_file import UnreadableFile

BARE = """
levels: [room, rack, host]
hosts:
  - {name: a, location: [m1, r1], labels: {power_feed: A}}
  - {name: b, location: [m1]}
  - {name: c}
"""

INVENTORY = """
levels: [az, host]
hosts:
  - name: a
    location: [az1]
    resources: {VCPU: {total: 8}}
flavors: {tiny: {VCPU: 1}}
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / 'racks.yaml'
        path.write_text(text)
        return str(path)
    return write


def test_hosts_are_located_as_in_the_file(write):
    topology = FileTopology(write(BARE))
    assert topology.levels == ('room', 'rack', 'host')
    located = topology.locate('abc', [])
    assert located['a'] == Location(
        ('m1', 'r1'), FrozenMapping({'power_feed': 'A'}), 'nova')
    assert located['b'].path == ('m1',)
    assert located['c'].path == ()


def test_a_host_missing_from_the_file_has_no_location(write):
    located = FileTopology(write(BARE)).locate(['unknown-host'], [])
    assert located == {'unknown-host': Location((), availability_zone='nova')}


def test_an_inventory_document_is_accepted(write):
    located = FileTopology(write(INVENTORY)).locate('a', [])
    assert located['a'].path == ('az1',)


def test_the_availability_zone_comes_from_nova_and_not_the_file(write):
    zone = Aggregate('zone', 'u', frozenset('a'),
                     FrozenMapping({'availability_zone': 'real'}))
    located = FileTopology(write(INVENTORY), 'default').locate('ab', [zone])
    assert located['a'].availability_zone == 'real'
    assert located['b'].availability_zone == 'default'


@pytest.mark.parametrize(('text', 'place'), [
    ('[]', ''),
    ('hosts: []', 'levels'),
    ('{levels: [rack], hosts: []}', 'levels'),
    ('{levels: [rack, 3, host], hosts: []}', 'levels[1]'),
    ('levels: [rack, host]', 'hosts'),
    ('{levels: [rack, host], hosts: [a]}', 'hosts[0]'),
    ('{levels: [rack, host], hosts: [{location: [r1]}]}', 'hosts[0].name'),
    ('{levels: [rack, host], hosts: [{name: a}, {name: a}]}',
     'hosts[1].name'),
    ('{levels: [rack, host], hosts: [{name: a, location: [r1, r2]}]}',
     'hosts[0].location'),
    ('{levels: [rack, host], hosts: [{name: a, location: r1}]}',
     'hosts[0].location'),
    ('{levels: [rack, host], hosts: [{name: a, labels: {feed: 1}}]}',
     'hosts[0].labels.feed'),
    ('{levels: [rack', ''),
])
def test_an_invalid_file_is_named_with_the_position(write, text, place):
    path = write(text)
    with pytest.raises(InvalidDocument) as error:
        FileTopology(path)
    assert error.value.place == (f'{path}: {place}' if place else path)
    assert '\n' not in str(error.value)


@pytest.mark.parametrize('path', ['', '/nonexistent/racks.yaml'])
def test_a_missing_file_is_reported_with_the_option(path):
    with pytest.raises(UnreadableFile, match=r'\[topology\] path'):
        FileTopology(path)


LINKED = BARE + """
links:
  - {domain: m1/r1, uplink_mbps: 40000, used_mbps: 100}
  - {domain: m1, uplink_mbps: 100000}
  - {level: power_feed, domain: m1, uplink_mbps: 500}
"""


def test_links_are_read_from_the_file(write):
    assert FileTopology(write(LINKED)).links == (
        Link(('m1', 'r1'), 40000, 100), Link(('m1',), 100000),
        Link(('m1',), 500, 0, 'power_feed'))
    assert FileTopology(write(BARE)).links == ()


@pytest.mark.parametrize('links, place', [
    ('{domain: m1}', 'links'),
    ('[m1]', 'links[0]'),
    ('[{domain: m1//r1, uplink_mbps: 1}]', 'links[0].domain'),
    ('[{uplink_mbps: 1}]', 'links[0].domain'),
    ('[{domain: m1/r1/a/b, uplink_mbps: 1}]', 'links[0].domain'),
    ('[{domain: m1}]', 'links[0].uplink_mbps'),
    ('[{domain: m1, uplink_mbps: -1}]', 'links[0].uplink_mbps'),
    ('[{domain: m1, uplink_mbps: true}]', 'links[0].uplink_mbps'),
    ('[{domain: m1, uplink_mbps: 1, used_mbps: x}]', 'links[0].used_mbps'),
    ('[{domain: m1, uplink_mbps: 1}, {domain: m1, uplink_mbps: 2}]',
     'links[1].domain'),
    ('[{level: rack, domain: r1, uplink_mbps: 1}]', 'links[0].level'),
    ('[{level: [a], domain: r1, uplink_mbps: 1}]', 'links[0].level'),
    ('[{level: feed, domain: 1, uplink_mbps: 1}]', 'links[0].domain'),
    ('[{level: feed, domain: A, uplink_mbps: 1},'
     ' {level: feed, domain: A, uplink_mbps: 1}]', 'links[1].domain'),
])
def test_invalid_links_are_refused(write, links, place):
    with pytest.raises(InvalidDocument) as raised:
        FileTopology(write(f'{BARE}links: {links}\n'))
    assert raised.value.place.endswith(f'racks.yaml: {place}')


def test_a_file_may_have_any_length(write):
    located = FileTopology(write('#' * 9 * 2**20 + BARE)).locate('a', [])
    assert located['a'].path == ('m1', 'r1')
