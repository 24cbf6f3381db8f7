# SPDX-License-Identifier: Apache-2.0
"""Builders of small clouds and groups."""

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.group import Group
from nova_holistic.model.members.member import MemberDescription
from nova_holistic.model.members.requirements import Requirements


def host(name, *location, vcpus=16, labels=None, inventories=None, **fields):
    """A host at a location, with this number of VCPUs."""
    inventories = inventories or {'VCPU': Inventory(total=vcpus)}
    return Host(name=name, node=name, uuid='', location=location,
                inventories=FrozenMapping(inventories),
                labels=FrozenMapping(labels), **fields)


def cloud(*hosts, levels=('rack', 'host'), links=()):
    return Snapshot(levels=levels, hosts=hosts, links=tuple(links))


def two_racks(hosts_per_rack=2, **fields):
    """Racks r1 and r2 with hosts r1h1, r1h2, … of 16 VCPUs each."""
    return cloud(*(host(f'{rack}h{number}', rack, **fields)
                   for rack in ('r1', 'r2')
                   for number in range(1, hosts_per_rack + 1)))


def servers(name, count=None, vcpus=1, **requirements):
    """A member description that requests only VCPUs."""
    return MemberDescription(
        name, Requirements(FrozenMapping({'VCPU': vcpus}), **requirements),
        count)


def group(*members, name='shop', groups=(), policies=(), relationships=()):
    return Group(name, members, tuple(groups), tuple(policies),
                 tuple(relationships))


def on(snapshot, **names):
    """Placement of members on named hosts: ``on(cloud, node_0='h1')``.

    An underscore in a name replaces the hyphen before the number of a counted
    member.
    """
    by_name = {h.name: h for h in snapshot.hosts}
    return {path.replace('_', '-'): by_name[name]
            for path, name in names.items()}
