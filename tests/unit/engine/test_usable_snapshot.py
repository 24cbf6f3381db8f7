# SPDX-License-Identifier: Apache-2.0
"""A snapshot without the holds of some members."""

from nova_holistic.engine.decision.usable_snapshot import with_members_removed
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.members.member import Member
from nova_holistic.table.records import MemberRecord, MemberState, Place
from tests.unit.builders import cloud, host, servers


def used(vcpus, count, name='h1'):
    """A host on which this number of servers uses this number of VCPUs."""
    return host(name, 'r1', servers=count,
                inventories={'VCPU': Inventory(total=16, used=vcpus),
                             'DISK_GB': Inventory(total=100, used=30)})


def member(path, on, vcpus):
    requirements = servers(path, vcpus=vcpus).requirements
    return MemberRecord(
        0, 'group', Member(path, path, requirements), Place(on, on, on),
        f'hold-{path}', True, MemberState.PLANNED)


def use(snapshot):
    """The used VCPUs and disk, and the servers, of each host."""
    return {h.name: (h.inventories['VCPU'].used,
                     h.inventories['DISK_GB'].used, h.servers)
            for h in snapshot.hosts}


def test_their_capacity_and_servers_are_removed_from_their_hosts_only():
    snapshot = cloud(used(7, 3), used(7, 3, 'h2'))
    freed = with_members_removed(snapshot,
                                 [member('a', 'h1', 2), member('b', 'h1', 4)])
    assert use(freed) == {'h1': (1, 30, 1), 'h2': (7, 30, 3)}
    assert use(snapshot)['h1'] == (7, 30, 3)


def test_a_hold_that_the_snapshot_lacks_frees_at_most_the_known_use():
    """The hold was written, or deleted by an audit, after the snapshot was
    taken."""
    assert use(with_members_removed(cloud(used(1, 0)),
                                    [member('a', 'h1', 2)])) == {
                                        'h1': (0, 30, 0)}


def test_members_on_removed_hosts_free_nothing():
    snapshot = cloud(used(7, 3))
    assert use(with_members_removed(snapshot,
                                    [member('a', 'h9', 2)])) == use(snapshot)


def test_without_members_it_is_the_same_snapshot():
    snapshot = cloud(used(7, 3))
    assert with_members_removed(snapshot, []) is snapshot
