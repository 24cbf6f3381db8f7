# SPDX-License-Identifier: Apache-2.0
"""Moves of servers whose disks are in a storage that hosts share.

A live migration allocates the disk at the storage for both hosts until it has
ended.
"""

from dataclasses import replace

import pytest

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.repair.move_order import longest_sequence, Move, MoveContext
from nova_holistic.table.records import MemberRecord, MemberState, Place
from tests.unit.builders import cloud, group, host, servers


def context(used, resources, **own):
    """Two servers on the first of three hosts that share 100 GiB.

    :param own: inventories that each host has in addition to processors
    """
    nfs = NestedProvider('nfs', 'nfs', '', FrozenMapping(
        {'DISK_GB': Inventory(100, used=used)}), sharing=True)
    hosts = [host(name, 'r1', vcpus=4) for name in ('h1', 'h2', 'h3')]
    hosts = [replace(each, providers=(nfs,), inventories=FrozenMapping(
        {**each.inventories, **own})) for each in hosts]
    wanted = group(replace(
        servers('web', 2), requirements=replace(
            servers('web').requirements, flavor=None,
            resources=FrozenMapping(resources))))
    rows = [MemberRecord(
        number, 'g', member, Place('h1', '', '', ('r1',)), 'hold', False,
        MemberState.BUILT, member.path)
        for number, member in enumerate(wanted.all_members())]
    return MoveContext(wanted, rows, cloud(*hosts)), [
        Move(row.member.path, row.member.path, 'h1', to)
        for row, to in zip(rows, ('h2', 'h3'))]


@pytest.mark.parametrize('used, number', [
    # Each move needs 30 GiB, and frees 30 GiB at its end.
    (70, 2), (71, 0)])
@pytest.mark.parametrize('own', [
    {}, {'DISK_GB': Inventory(500, reserved=500)}])
def test_a_move_needs_the_disk_twice(used, number, own):
    found = longest_sequence(*context(used, {'VCPU': 1, 'DISK_GB': 30}, **own))
    assert len(found.moves) == number
    if not number:
        assert set(found.obstacles.values()) == {
            'the destination has too little free DISK_GB'}


def test_a_resize_uses_the_storage_of_all_hosts():
    """The first server takes 10 GiB more, so the second cannot do this."""
    case, moves = context(60, {'VCPU': 1, 'DISK_GB': 30})
    larger = [replace(each, resources=FrozenMapping(
        {'VCPU': 1, 'DISK_GB': 40})) for each in moves]
    assert len(longest_sequence(case, larger).moves) == 1
