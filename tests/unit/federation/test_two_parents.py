# SPDX-License-Identifier: Apache-2.0
"""Two parents that use the same clouds at the same time."""

from concurrent.futures import ThreadPoolExecutor

from nova_holistic.federation.planner import Limits
from nova_holistic.federation.results import Placed
from tests.unit.federation.clouds import Federation, member, small

DOCUMENT = {'name': 'shop', 'members': [member('node', 4, count=2)],
            'policies': [{'type': 'anti-affinity', 'level': 'cloud'}]}
GROUPS = 10


def test_groups_of_two_parents_are_placed_whole_or_refused():
    limits = Limits(max_tries=8)
    clouds = {name: small('a1', 'a2', vcpus=16) for name in 'abc'}
    first, second = (Federation(limits=limits, **clouds) for _ in range(2))
    for name, child in second.children.items():
        child.cloud = first.children[name].cloud
    with ThreadPoolExecutor(4) as pool:
        found = [work.result() for work in [
            pool.submit(parent.place, DOCUMENT, f'{number}-{group}')
            for group in range(GROUPS)
            for number, parent in enumerate((first, second))]]
    placed = [each for each in found if isinstance(each, Placed)]
    # Three clouds have room for eight servers each, so twelve pairs fit.
    assert len(placed) <= 12
    # If no further pair fits, at most one cloud has room left.
    assert len(placed) >= 8
    held = {}
    for each in placed:
        assert len(each.parts) == 2
        for part in each.parts:
            cloud = first.children[part.child].cloud
            group = cloud.groups[part.group.uuid]
            assert sorted(group.places) == list(part.paths)
            held[part.child] = held.get(part.child, 0) + 4
    # No capacity is claimed twice, and refused groups hold none.
    assert first.held() == held
    for child in first.children.values():
        for host in child.cloud.snapshot.hosts:
            assert host.inventories['VCPU'].used <= 16
    assert max(each.tries for each in found) <= 8
