# SPDX-License-Identifier: Apache-2.0
"""The hosts of a snapshot after a change of the usage of a storage that they
share."""

import cProfile
import pstats

from nova_holistic.inventory.nova.computes import Compute
from nova_holistic.inventory.resource_providers.provider import Provider
from nova_holistic.inventory.resource_providers.provider_source import (
    Sharing)
from nova_holistic.inventory.snapshot_assembly import (
    NovaFacts, SnapshotAssembly)
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.use_change import UseChange
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.topology.aggregates import AggregatesTopology

HOSTS = 200


def provider(**totals):
    return Provider(1, FrozenMapping({
        name: Inventory(total) for name, total in totals.items()}),
        frozenset(), 0)


def assembled(**others):
    """Hosts that share a storage; the last of them has its own disk."""
    assembly = SnapshotAssembly(AggregatesTopology(['host']))
    uuids = [f'u{number}' for number in range(HOSTS)]
    assembly.put(
        assembly.begin(), nova=NovaFacts(tuple(
            Compute(uuid, uuid, uuid, uuid, True) for uuid in uuids)),
        providers={**{uuid: provider(VCPU=8) for uuid in uuids},
                   uuids[-1]: provider(VCPU=8, DISK_GB=50),
                   'nfs': provider(DISK_GB=1000, **others)},
        sharing={'nfs': Sharing('nfs', frozenset(uuids))})
    return assembly


def used(assembly, **amounts):
    """The hosts after a change of the usage of the storage."""
    return assembly.change_use(assembly.begin(), {
        'nfs': UseChange(1, FrozenMapping(amounts))}).hosts


def test_hosts_with_their_own_disk_do_not_change():
    assembly = assembled()
    before = assembly.snapshot.hosts
    after = used(assembly, DISK_GB=10)
    assert after[-1] is before[-1]
    assert {host.providers[0].inventories['DISK_GB'].free
            for host in after[:-1]} == {990}


def test_an_equal_reading_changes_no_host():
    assembly = assembled()
    before = assembly.snapshot
    assert assembly.put(assembly.begin(), providers={
        'nfs': provider(DISK_GB=1000)}) is before


def test_a_class_that_a_host_does_not_use_does_not_change_it():
    assembly = assembled(VCPU=100)
    before = assembly.snapshot.hosts
    after = used(assembly, VCPU=1)
    assert all(map(lambda one, other: one is other, before, after))


def test_a_change_of_usage_takes_few_calls_for_each_host():
    assembly = assembled()
    profile = cProfile.Profile()
    profile.enable()
    used(assembly, DISK_GB=10)
    profile.disable()
    # If each host is assembled again from all its parts, these are 90.
    assert pstats.Stats(profile).total_calls < 75 * HOSTS
