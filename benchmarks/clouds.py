# SPDX-License-Identifier: Apache-2.0
"""Clouds in use: hosts filled with servers of a few flavors, at random."""

import numpy as np

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor

CLASSES = ('VCPU', 'MEMORY_MB', 'DISK_GB')
FLAVORS = {
    'small': (1, 2048, 20),
    'medium': (2, 8192, 40),
    'large': (4, 8192, 80),
    'memory': (4, 32768, 80),
}
HARDWARE = (
    # total VCPU, allocation ratio of VCPU, MEMORY_MB, DISK_GB, reserved MB
    (32, 2.0, 262144, 2000, 4096),
    (48, 2.0, 393216, 4000, 4096),
    (64, 1.5, 524288, 4000, 8192),
)
ZONES = 3
HOSTS_PER_RACK = 40
_UNEVEN = 0.1
"""Standard deviation of the hosts' utilisation."""


def flavors():
    return {name: Flavor(name, name, FrozenMapping(zip(CLASSES, amounts)))
            for name, amounts in FLAVORS.items()}


def cloud(hosts, utilisation, seed, hosts_per_rack=HOSTS_PER_RACK,
          zones=ZONES):
    """Hosts in racks in zones; each host is filled with servers until its
    scarcest resource is in use to a share drawn around ``utilisation``."""
    random = np.random.default_rng(seed)
    kinds = random.integers(0, len(HARDWARE), hosts)
    share = np.clip(random.normal(utilisation, _UNEVEN, hosts), 0.0, 1.0)
    mixes = random.dirichlet(np.ones(len(FLAVORS)), hosts)
    capacity = np.array([_capacity(HARDWARE[k]) for k in kinds])
    amounts = np.array(list(FLAVORS.values()))
    # Servers of each flavor, so that the fullest resource reaches the share.
    most = (share / (mixes @ amounts / capacity).max(axis=1))[:, None]
    servers = np.floor(mixes * most + random.random(mixes.shape)).astype(int)
    while True:
        over = ((servers @ amounts) > capacity).any(axis=1)
        if not over.any():
            break
        servers[over] = np.maximum(servers[over] - 1, 0)
    used = servers @ amounts
    racks = -(-hosts // hosts_per_rack)
    return Snapshot(
        ('az', 'rack', 'host'),
        tuple(_host(h, _location(h // hosts_per_rack, racks, zones),
                    kinds[h], used[h].tolist(), int(servers[h].sum()))
              for h in range(hosts)),
        flavors=FrozenMapping(flavors()))


def _capacity(hardware):
    vcpus, ratio, memory, disk, reserved = hardware
    return vcpus * ratio, memory - reserved, disk


def _location(rack, racks, zones):
    return f'az{rack * zones // racks + 1}', f'rack{rack:04d}'


def _host(number, location, kind, used, servers):
    vcpus, ratio, memory, disk, reserved = HARDWARE[kind]
    name = f'cmp-{number:05d}'
    return Host(
        name=name, node=name, uuid='', location=location,
        inventories=FrozenMapping({
            'VCPU': Inventory(vcpus, 0, ratio, used[0]),
            'MEMORY_MB': Inventory(memory, reserved, 1.0, used[1]),
            'DISK_GB': Inventory(disk, 0, 1.0, used[2])}),
        availability_zone=location[0], servers=servers)
