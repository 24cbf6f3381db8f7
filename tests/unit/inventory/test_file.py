# SPDX-License-Identifier: Apache-2.0
"""The inventory driver that reads a document."""

import pytest

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.inventory.file import FileInventory
from nova_holistic.topology.option_file import UnreadableFile

CLOUD = """
levels: [rack, host]
hosts:
  - name: a
    location: [r1]
    resources: {VCPU: {total: 8, allocation_ratio: 2.0, used: 3}}
"""


def test_the_snapshot_equals_the_file(tmp_path):
    path = tmp_path / 'cloud.yaml'
    path.write_text(CLOUD)
    snapshot = FileInventory(str(path)).snapshot()
    (host,) = snapshot.hosts
    assert (host.name, host.location) == ('a', ('r1',))
    assert host.inventories['VCPU'].free == 13


def test_each_snapshot_reads_the_file_again(tmp_path):
    path = tmp_path / 'cloud.yaml'
    path.write_text(CLOUD)
    inventory = FileInventory(str(path))
    inventory.snapshot()
    path.write_text(CLOUD.replace('used: 3', 'used: 4'))
    assert inventory.snapshot().hosts[0].inventories['VCPU'].used == 4


def test_an_invalid_file_is_named_with_the_position(tmp_path):
    path = tmp_path / 'cloud.yaml'
    path.write_text(CLOUD.replace('total: 8', 'total: eight'))
    with pytest.raises(InvalidDocument) as error:
        FileInventory(str(path)).snapshot()
    assert error.value.place == f'{path}: hosts[0].resources.VCPU.total'


@pytest.mark.parametrize('path', ['', '/nonexistent/cloud.yaml'])
def test_a_missing_file_is_reported_with_the_option(path):
    with pytest.raises(UnreadableFile, match=r'\[inventory\] path'):
        FileInventory(path).snapshot()
