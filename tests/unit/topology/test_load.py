# SPDX-License-Identifier: Apache-2.0
"""The configuration chooses the topology driver."""

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.exceptions import UnknownPlugin
from nova_holistic.topology.aggregates import AggregatesTopology
from nova_holistic.topology.errors import InvalidLevels
from nova_holistic.topology.file import FileTopology
from nova_holistic.topology import load_topology


@pytest.fixture
def conf():
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], default_config_files=[])
    yield conf
    # Option groups are shared: an override remains after its ConfigOpts.
    conf.reset()


def test_the_default_levels_are_az_and_host(conf):
    topology = load_topology(conf)
    assert isinstance(topology, AggregatesTopology)
    assert topology.levels == ('az', 'host')
    assert topology.locate('a', [])['a'].path == ('nova',)


def test_levels_labels_and_the_default_zone_come_from_the_options(conf):
    conf.set_override('levels', ['az', 'rack', 'host'], 'topology')
    conf.set_override('labels', ['rack'], 'topology')
    with pytest.raises(InvalidLevels, match=(
            r'^\[topology\] levels: rack is named twice')):
        load_topology(conf)
    conf.set_override('labels', [], 'topology')
    conf.set_override('default_availability_zone', 'home', 'topology')
    topology = load_topology(conf)
    assert topology.levels == ('az', 'rack', 'host')
    assert topology.locate('a', [])['a'].path == ('home',)


def test_the_file_driver_reads_its_path(conf, tmp_path):
    path = tmp_path / 'racks.yaml'
    path.write_text('{levels: [rack, host], hosts: []}')
    conf.set_override('driver', 'file', 'topology')
    conf.set_override('path', str(path), 'topology')
    topology = load_topology(conf)
    assert isinstance(topology, FileTopology)
    assert topology.levels == ('rack', 'host')


def test_an_unknown_driver_is_refused_with_the_known_ones(conf):
    conf.set_override('driver', 'compass', 'topology')
    with pytest.raises(UnknownPlugin) as error:
        load_topology(conf)
    for word in ('[topology] driver', "'compass'", 'aggregates', 'file'):
        assert word in str(error.value)
