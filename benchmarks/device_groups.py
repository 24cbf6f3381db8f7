# SPDX-License-Identifier: Apache-2.0
"""Groups with devices on real Nova, in nearly full clouds in which a plan
exists (``planted_devices.py``): planned together, and on stock Nova one server
at a time, in the order of the document.

Each cloud runs in this process. A group succeeds if all its servers are ACTIVE
and its policy holds: one rack for GPU nodes and for pinned servers, two racks
for a pair. Stock Nova has no racks, so pairs are in a server group with
anti-affinity, and the others are in none.
"""

# This package must be the first that a process imports.
from nova_holistic.embedded.cloud import EmbeddedCloud  # isort: skip

import argparse
from collections import Counter

from planted_devices import BANDWIDTH, PER_RACK, PlantedDevices, SWITCHES

from nova_holistic.embedded.calls.servers import PROJECT, USER
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.embedded.waiting import EmbeddedCloudError
from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.nested_provider import NestedProvider
from nova_holistic.model.frozen import FrozenMapping

OPTIONS = {('holistic', 'search_time_limit'): 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=12)
    parser.add_argument('--utilisation', type=float, default=97.0)
    parser.add_argument('--seeds', type=int, default=2)
    parser.add_argument('--first', type=int, default=0, metavar='SEED')
    arguments = parser.parse_args()
    print(f'{"scheduler":<10} {"kind":<8} {"servers":>7} {"active":>6} '
          f'{"groups":>6} {"successful":>10}', flush=True)
    totals = Counter()
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        totals += _measured(PlantedDevices(
            arguments.hosts, seed, arguments.utilisation / 100))
    for scheduler in ('joint', 'stock'):
        for kind in ('nodes', 'pinned', 'pairs'):
            print(f'{scheduler:<10} {kind:<8}' + ''.join(
                f'{totals[scheduler, kind, what]:>{width}}'
                for what, width in (('servers', 8), ('active', 7),
                                    ('groups', 7), ('successful', 11))))


def _measured(planted):
    hosts = [_host(each) for each in planted.snapshot.hosts]
    groups = _groups(planted.group)
    with EmbeddedCloud(hosts, options=OPTIONS) as cloud:
        flavors = {}
        for members in groups.values():
            for wanted in members.values():
                specs = _extra_specs(wanted)
                if specs not in flavors.values():
                    flavors[f'flavor-{len(flavors)}'] = specs
        for name, specs in flavors.items():
            # Nova refuses other numbers of dedicated processors.
            cloud.create_flavor(name, int(specs.get('resources:PCPU', 1)), 64,
                                1, specs)
        names = {frozenset(specs.items()): name
                 for name, specs in flavors.items()}
        of = {path: {member: names[frozenset(_extra_specs(each).items())]
                     for member, each in members.items()}
              for path, members in groups.items()}
        found = _counts('joint', of, cloud, _joint(cloud, of))
        _clear(cloud)
        cloud.restart_scheduler('stock')
        return found + _counts('stock', of, cloud, _stock(cloud, of))


def _groups(garden):
    """Path of each group with members: its members' requirements by name."""
    return {scope.path: {each.name: each.requirements
                         for each in scope.group.members}
            for scope in garden.scopes() if scope.group.members}


def _host(host):
    """A host that has only what is free."""
    number = int(host.name[1:])
    gpus = sum(each.inventories['PGPU'].free for each in host.providers
               if 'PGPU' in each.inventories)
    devices = [_device('cpus', {'PCPU': host.inventories['PCPU'].free}),
               _device('gpus', {'PGPU': gpus})]
    for switch in SWITCHES:
        (card,) = [each for each in host.providers
                   if each.name.endswith(switch)]
        devices.append(_device(switch, {
            name: card.inventories[name].free for name in BANDWIDTH},
            *card.traits))
    return EmbeddedHost(
        host.name, rack=f'r{number // PER_RACK}', vcpus=100,
        devices=tuple(each for each in devices if each.inventories))


def _device(name, amounts, *traits):
    return NestedProvider('', name, '', FrozenMapping({
        each: Inventory(amount) for each, amount in amounts.items()
        if amount}), frozenset(traits))


def _extra_specs(wanted):
    """Extra specs of a flavor for a planted member. All GPUs of a host are one
    provider: of eight of them, Placement would propose each order."""
    gpus = sum('PGPU' in each.resources for each in wanted.request_groups)
    specs = {'group_policy': 'none'}
    if gpus:
        specs['resources:PGPU'] = str(gpus)
    if 'PCPU' in wanted.resources:
        specs |= {'resources:PCPU': str(wanted.resources['PCPU']),
                  'resources:VCPU': '0'}
    for each in wanted.request_groups:
        if 'PGPU' not in each.resources:
            specs |= {f'resources_{each.suffix}:{name}': str(amount)
                      for name, amount in each.resources.items()}
            specs |= {f'trait_{each.suffix}:{trait}': 'required'
                      for trait in each.required_traits}
    return specs


def _document(flavors):
    return {'name': 'garden', 'groups': [{
        'name': path.replace('/', '-'),
        'policies': [{'type': 'anti-affinity' if _kind(path) == 'pairs'
                      else 'affinity', 'level': 'rack'}],
        'members': [{'name': name, 'flavor': flavor}
                    for name, flavor in members.items()]}
        for path, members in flavors.items()]}


def _kind(path):
    return path.split('/')[0].rstrip('0123456789')


def _joint(cloud, flavors):
    """Servers, by path of the group; created with pointers."""
    record = cloud.planner.create(
        _document(flavors), project_id=PROJECT, user_id=USER)
    return {path: [cloud.create_server(name, flavor, {
        'group': record.uuid, 'member': f'{path.replace("/", "-")}/{name}'})
        for name, flavor in members.items()]
        for path, members in flavors.items()}


def _stock(cloud, flavors):
    """Servers, by path of the group; each waits for the one before it."""
    servers = {}
    for path, members in flavors.items():
        group = (cloud.create_server_group(path, 'anti-affinity')
                 if _kind(path) == 'pairs' else None)
        servers[path] = []
        for name, flavor in members.items():
            servers[path].append(cloud.create_server(
                name, flavor, hints={'group': group}))
            _is_active(cloud, servers[path][-1])
    return servers


def _is_active(cloud, server):
    try:
        cloud.wait_for_status(server, 'ACTIVE')
    except EmbeddedCloudError:
        return False
    return True


def _counts(scheduler, flavors, cloud, servers):
    found = Counter()
    for path, each in servers.items():
        active = [server for server in each if _is_active(cloud, server)]
        racks = {int(cloud.host_of(server)[1:]) // PER_RACK
                 for server in active}
        wanted = 2 if _kind(path) == 'pairs' else 1
        found.update({
            (scheduler, _kind(path), 'servers'): len(each),
            (scheduler, _kind(path), 'active'): len(active),
            (scheduler, _kind(path), 'groups'): 1,
            (scheduler, _kind(path), 'successful'): int(
                len(active) == len(each) and len(racks) == wanted)})
    return found


def _clear(cloud):
    for each in cloud.servers():
        cloud.delete_server(each['id'])
    for group in cloud.table.list_groups():
        cloud.lifecycle.delete(group.uuid)


if __name__ == '__main__':
    main()
