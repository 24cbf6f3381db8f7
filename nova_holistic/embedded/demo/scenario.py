# SPDX-License-Identifier: Apache-2.0
"""24 hosts in two zones and six racks, 78 % of their memory in use.

Every host has 64 VCPU, 127.5 GiB and 1000 GB for servers, and one server of
the load. The free capacity distinguishes three kinds of hosts. The table shows
the number of hosts of each kind in each zone, the free capacity of a host, and
how many servers of one flavor fit on it:

======== === === ==== ========= ==== === ===== ==
kind     az1 az2 VCPU    memory disk web cache db
======== === === ==== ========= ==== === ===== ==
roomy      4   2   24  51.5 GiB  300   3     2  1
lopsided   2   0   48  31.5 GiB  600   1     1  0
tight      6  10   12  19.5 GiB  150   1     0  0
======== === === ==== ========= ==== === ===== ==

**A joint plan exists.** In az1, each of the three databases uses a roomy host,
in three racks, and the two caches use the fourth roomy host together. Then no
roomy host has free capacity for another server, and each of the eight other
hosts gets one web server. In az2, the two databases use the roomy hosts, and
the four web servers use tight hosts.

**Stock Nova cannot place all servers**, for any order of equal hosts. Its
weighers add up free memory, VCPU and disk, each relative to the largest among
the candidates, so for a web server in az1 a lopsided host weighs 31.5/51.5 + 1
+ 1 = 2.6, a roomy one 1 + 24/48 + 300/600 = 2.0, a tight one 19.5/51.5 + 12/48
+ 150/600 = 0.9; in az2 the roomy ones are the emptiest by all three measures.
No host gets two web servers, so eight of them cover the six best hosts of az1,
and four of them the two best of az2: after that no host has the 48 GiB of a
database, or of a pair of caches. Another order of the tiers does not help
either: a cache that comes before the web servers weighs a lopsided host
highest, where the second cache does not fit; a cache that comes after them
finds no host with room for a pair. The reason is ordinary fragmentation:
spreading is right for every single server.
"""

from collections.abc import Iterator
from importlib import resources
from itertools import count

from nova_holistic.documents.source import text
from nova_holistic.embedded.host import EmbeddedHost
from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.nova.flavor import Flavor

GIB = 1024
OPTIONS = {
    # VCPU is not overcommitted, neither in Placement nor for Nova's weighers.
    (None, 'initial_cpu_allocation_ratio'): 1.0,
    (None, 'reserved_host_memory_mb'): GIB // 2,
}
NEVER_CREATED = ('web/server-6', 'web/server-7')
"""Members that are planned, but for which the client creates no servers."""

_RACKS = {
    ('az1', 'rack1'): ('roomy', 'lopsided', 'tight', 'tight'),
    ('az1', 'rack2'): ('roomy', 'roomy', 'tight', 'tight'),
    ('az1', 'rack3'): ('roomy', 'lopsided', 'tight', 'tight'),
    ('az2', 'rack4'): ('roomy', 'tight', 'tight', 'tight'),
    ('az2', 'rack5'): ('tight', 'tight', 'tight', 'tight'),
    ('az2', 'rack6'): ('roomy', 'tight', 'tight', 'tight'),
}


def _flavor(name: str, vcpus: int, memory_gib: int, disk_gb: int) -> Flavor:
    return Flavor(name, name, FrozenMapping({
        'VCPU': vcpus, 'MEMORY_MB': memory_gib * GIB, 'DISK_GB': disk_gb}))


FLAVORS = (
    _flavor('web', 2, 16, 20),
    _flavor('cache', 4, 24, 10),
    _flavor('db', 8, 48, 200),
)
LOADS = (
    _flavor('load.roomy', 40, 76, 700),
    _flavor('load.lopsided', 16, 96, 400),
    _flavor('load.tight', 52, 108, 850),
)


def hosts() -> tuple[tuple[EmbeddedHost, str], ...]:
    """Every host, with the flavor of the load on it."""
    return tuple(_hosts())


def _hosts() -> Iterator[tuple[EmbeddedHost, str]]:
    numbers = count(1)
    for (zone, rack), kinds in _RACKS.items():
        for kind in kinds:
            host = EmbeddedHost(
                f'cmp-{next(numbers):02}', zone=zone, rack=rack, vcpus=64,
                memory_mb=128 * GIB, disk_gb=1000,
                reserved_memory_mb=GIB // 2)
            yield host, f'load.{kind}'


def document() -> object:
    """The group document."""
    package = resources.files('nova_holistic.embedded.demo')
    return text.load((package / 'shop.yaml').read_text(encoding='utf-8'))
