# SPDX-License-Identifier: Apache-2.0
"""The configuration chooses the inventory driver."""

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.exceptions import UnknownPlugin
from nova_holistic.inventory.errors import MissingAdapter
from nova_holistic.inventory import load_inventory


@pytest.fixture
def conf():
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([], default_config_files=[])
    yield conf
    # Option groups are shared: an override remains after its ConfigOpts.
    conf.reset()


def test_the_file_driver_needs_no_service(conf, tmp_path):
    path = tmp_path / 'cloud.yaml'
    path.write_text('{levels: [host], hosts: '
                    '[{name: a, resources: {VCPU: {total: 4}}}]}')
    conf.set_override('driver', 'file', 'inventory')
    conf.set_override('path', str(path), 'inventory')
    snapshot = load_inventory(conf).snapshot()
    assert [host.name for host in snapshot.hosts] == ['a']


def test_the_placement_driver_needs_two_services(conf):
    with pytest.raises(MissingAdapter, match='Placement and one to Nova'):
        load_inventory(conf)


def test_an_unknown_driver_is_refused_with_the_known_ones(conf):
    conf.set_override('driver', 'abacus', 'inventory')
    with pytest.raises(UnknownPlugin) as error:
        load_inventory(conf)
    for word in ('[inventory] driver', "'abacus'", 'placement', 'file'):
        assert word in str(error.value)
