# SPDX-License-Identifier: Apache-2.0
"""The tree of domains of a picture."""

from nova_holistic.picture.scene import scene
from nova_holistic.picture.tree import tree
from tests.unit.builders import cloud, host
from tests.unit.picture.builders import plan


def grown(snapshot, **placements):
    picture = scene(snapshot, plan(snapshot, placements))
    return tree(picture.levels, picture.hosts)


def test_racks_with_one_name_in_two_zones_are_separate():
    root = grown(cloud(host('h1', 'az1', 'rack1'), host('h2', 'az2', 'rack1'),
                       levels=('az', 'rack', 'host')), a='h2')
    assert [zone.name for zone in root.domains] == ['az1', 'az2']
    assert [zone.members() for zone in root.domains] == [0, 1]
    assert [rack.all_hosts() for zone in root.domains
            for rack in zone.domains] == [1, 1]


def test_hosts_without_a_rack_are_in_a_box_named_no_rack():
    root = grown(cloud(host('h1', 'az1', 'rack1'), host('h2', 'az1'),
                       host('h3', 'az1', ''), levels=('az', 'rack', 'host')))
    racks = {rack.name: rack.all_hosts() for rack in root.domains[0].domains}
    assert racks == {'rack1': 1, 'no rack': 2}


def test_a_topology_with_only_hosts_has_no_domains():
    root = grown(cloud(host('h1'), host('h2'), levels=('host',)))
    assert root.domains == ()
    assert root.all_hosts() == 2
