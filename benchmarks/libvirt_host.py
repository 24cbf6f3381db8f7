# SPDX-License-Identifier: Apache-2.0
"""Compute hosts as nova-compute with the libvirt driver reports them: two
sockets with 32 threads each, 512 GiB of memory and 4 TB of disk, in racks of
40 hosts, with five racks in each room and three zones."""

import os_traits

PROJECT, USER = 'other-project', 'other-project'
"""Owner of the servers that belong to no group."""
SERVER = {'VCPU': 2, 'MEMORY_MB': 4096, 'DISK_GB': 20}
"""Resources of each of these servers."""
HOSTS_PER_RACK = 40
RACKS_PER_ROOM = 5
ZONES = 3
LEVELS = ('az', 'room', 'rack', 'host')

COMPUTE_TRAITS = frozenset(
    trait for trait in os_traits.get_traits('COMPUTE_')
    if trait.startswith((
        'COMPUTE_NODE', 'COMPUTE_DEVICE_TAGGING', 'COMPUTE_IMAGE_TYPE_QCOW2',
        'COMPUTE_IMAGE_TYPE_RAW', 'COMPUTE_IMAGE_TYPE_ISO', 'COMPUTE_RESCUE',
        'COMPUTE_SOCKET', 'COMPUTE_ACCELERATORS', 'COMPUTE_NET_ATTACH',
        'COMPUTE_NET_VIF_MODEL', 'COMPUTE_STORAGE_BUS', 'COMPUTE_GRAPHICS',
        'COMPUTE_VOLUME', 'COMPUTE_TRUSTED_CERTS',
        'COMPUTE_VIOMMU'))) | {'OWNER_NOVA'}
"""Traits of the driver; select_destinations requires some of them."""
CPU_TRAITS = tuple(f'HW_CPU_X86_{name}' for name in (
    'AESNI', 'AVX', 'AVX2', 'AVX512BW', 'AVX512CD', 'AVX512DQ', 'AVX512F',
    'AVX512VL', 'BMI', 'BMI2', 'CLMUL', 'F16C', 'FMA3', 'MMX', 'SSE', 'SSE2',
    'SSE3', 'SSE41', 'SSE42', 'SSSE3', 'STIBP', 'VMX'))


def hosts(number):
    """EmbeddedHosts, in racks that are in rooms that are in zones."""
    # This package must be the first that a process imports.
    from nova_holistic.embedded.host import EmbeddedHost
    racks = -(-number // HOSTS_PER_RACK)
    rooms = -(-racks // RACKS_PER_ROOM)
    embedded_hosts = []
    for host in range(number):
        rack = host // HOSTS_PER_RACK
        room = rack // RACKS_PER_ROOM
        embedded_hosts.append(EmbeddedHost(
            f'cmp-{host:05}', zone=f'az{room * ZONES // rooms + 1}',
            rack=f'rack{rack:04}', labels={'room': f'room{room:03}'},
            vcpus=64, memory_mb=524288, disk_gb=4000,
            cpu_allocation_ratio=4.0, reserved_memory_mb=512,
            traits=CPU_TRAITS))
    return embedded_hosts


def numa_topology():
    """The NUMATopology that the libvirt driver reports of such a host."""
    # Only processes that have chosen their threading import Nova.
    from nova import objects
    return objects.NUMATopology(cells=[
        objects.NUMACell(
            id=number, socket=number, cpuset=set(threads), pcpuset=set(),
            pinned_cpus=set(), memory=262144, cpu_usage=0, memory_usage=0,
            siblings=[{thread, thread + 16} for thread in threads[:16]],
            mempages=[objects.NUMAPagesTopology(
                size_kb=size, total=total, used=0, reserved=0)
                for size, total in (
                    (4, 67108864), (2048, 0), (1048576, 0))],
            network_metadata=objects.NetworkMetadata(
                physnets=set(), tunneled=False))
        for number, threads in enumerate(
            (range(32), range(32, 64)))])
