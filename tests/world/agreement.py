# SPDX-License-Identifier: Apache-2.0
"""What the placement table and Placement must agree on."""

from collections import defaultdict

from nova_holistic.holds.client import allocations
from nova_holistic.table.records import MemberState

SETTLED = (MemberState.PLANNED, MemberState.BUILT, MemberState.RELEASED,
           MemberState.LOST)
WITH_SERVER = MemberState.BUILT, MemberState.FAILED


def assert_settled(world):
    """Each planned member has its hold, a built one its server's
    allocation, and nothing else is taken in Placement."""
    expected, allocated = 0, _taken(world)
    for row in world.rows():
        planned = row.state == MemberState.PLANNED
        built = row.state == MemberState.BUILT
        assert row.held == planned, row
        assert (allocated.get(row.hold) == allocations(row)) == planned, row
        if built:
            assert allocated.get(row.instance_uuid) == allocations(row), row
        assert row.state in SETTLED, row
        expected += planned + built
    assert world.vcpus_used() == expected


def disagreements(world):
    """Sentences about the differences between table and Placement.

    Each held row has its hold, and no other row has a hold. A built row has
    the allocation of its server. A claimed row has a hold or the allocation of
    its server, because a claim may be between its two steps. No other consumer
    has an allocation, except other servers that the test has declared, and
    servers whose rows were deleted.
    """
    allocated = _taken(world)
    of_rows = [sentence for row in world.rows()
               for sentence in _of_row(row, allocated)]
    declared = world.placement.other_servers | world.servers
    return of_rows + [
        f'consumer {consumer}, which no row has, has {resources}'
        for consumer, resources in allocated.items()
        if consumer not in declared]


def _taken(world):
    """Allocations on the hosts: consumer to provider to resources."""
    by_consumer = defaultdict(dict)
    for provider in world.providers():
        for consumer, resources in world.placement.consumers(provider).items():
            by_consumer[consumer][provider] = {
                'resources': resources['resources']}
    return by_consumer


def _of_row(row, allocated):
    """What is wrong about a row; what it has is no longer in ``taken``."""
    declared = allocations(row)
    hold = allocated.pop(row.hold, None)
    state = f'member {row.member.path} is {row.state}'
    if row.state == MemberState.CLAIMED:
        server = allocated.pop(row.instance_uuid, None)
        if [each for each in (hold, server) if each] != [declared]:
            yield f'{state}; its hold has {hold}, its server has {server}'
        return
    if row.held and hold != declared:
        yield f'{state} and held; its hold has {hold}, not {declared}'
    if not row.held and hold:
        yield f'{state} and not held; its hold has {hold}'
    if row.state == MemberState.PLANNED and not row.held:
        yield f'{state} and not held'
    if row.state in WITH_SERVER:
        server = allocated.pop(row.instance_uuid, None)
        failed = row.state == MemberState.FAILED and server is None
        if server != declared and not failed:
            yield f'{state}; its server has {server}, not {declared}'
