# SPDX-License-Identifier: Apache-2.0
"""Flavors, an image, and host aggregates with the location of each host."""

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from tools.cloud.catalog import ADMIN, session
from tools.cloud.layout import Layout
from tools.cloud.waiting import wait_for

FLAVORS = {'tiny': (1, 512, 1), 'small': (2, 2048, 10),
           'large': (8, 16384, 100)}
"""The VCPUs, MiB of memory and GB of disk of each flavor."""
IMAGE = 'nothing'
ROOM = 5
"""Number of racks of a room. Each room is an availability zone."""


def create_resources(layout: Layout, hosts: list[str]) -> None:
    """Create the resources, and wait until every host can accept a server."""
    admin = session(layout, ADMIN)
    compute = Adapter(admin, service_type='compute',
                      default_microversion='2.90')
    for name, (vcpus, ram, disk) in FLAVORS.items():
        compute.post('/flavors', json={'flavor': {
            # Nova looks up the ID first, so a lookup by name is fast.
            'id': name, 'name': name,
            'vcpus': vcpus, 'ram': ram, 'disk': disk}})
    _upload(Adapter(admin, service_type='image'))
    _await(admin, compute, len(hosts))
    rack = layout.rack
    for first in range(0, len(hosts), rack):
        _build_rack(compute, first // rack, hosts[first:first + rack])


def _await(admin: Session, compute: Adapter, count: int) -> None:
    """Wait until Placement and Nova's cell contain this number of hosts."""
    placement = Adapter(admin, service_type='placement',
                        default_microversion='1.39')
    for service, path, key in (
            (placement, '/resource_providers?resources=VCPU:1',
             'resource_providers'),
            (compute, '/os-hypervisors', 'hypervisors')):
        wait_for(f'{count} {key}',
                 lambda: len(service.get(path).json()[key]) == count,
                 pause=0.5)


def _upload(image: Adapter) -> None:
    created = image.post('/v2/images', json={
        'name': IMAGE, 'disk_format': 'raw', 'container_format': 'bare',
        'visibility': 'public'}).json()
    image.put(f'/v2/images/{created["id"]}/file', data=b'\0' * 1024,
              headers={'Content-Type': 'application/octet-stream'})


def _build_rack(compute: Adapter, number: int, hosts: list[str]) -> None:
    room = number // ROOM + 1
    rack = compute.post('/os-aggregates', json={'aggregate': {
        'name': f'rack{number + 1}',
        'availability_zone': f'az{room}'}}).json()['aggregate']['id']
    compute.post(f'/os-aggregates/{rack}/action', json={'set_metadata': {
        'metadata': {'room': f'room{room}', 'rack': f'rack{number + 1}'}}})
    for host in hosts:
        compute.post(f'/os-aggregates/{rack}/action',
                     json={'add_host': {'host': host}})
