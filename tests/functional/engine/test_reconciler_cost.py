# SPDX-License-Identifier: Apache-2.0
"""The cost of a pass does not depend on groups without work."""

from dataclasses import replace

import pytest

from nova_holistic.model.frozen import FrozenMapping
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.reconcile.instances import NovaInstances
from nova_holistic.reconcile.observed_servers import OVERLAP
from nova_holistic.reconcile.reconciler import Reconciler
from nova_holistic.table.queries import outlines
from nova_holistic.table.queries.overview import GroupOutline, MemberOutline
from nova_holistic.table.records import GroupStatus, MemberState, Place
from nova_holistic.table import rows
from tests.functional.engine.world import shop
from tests.statements import recorded
from tests.unit.reconcile.nova import Nova
from tests.unit.table import builders
from tests.unit.table.test_outlines import forget_changes

built_rows_alone = pytest.mark.leaves('built rows without their servers')
LOOSE = {'name': 'shop', 'groups': [{'name': 'db', 'members': [
    {'name': 'node', 'count': 2, 'resources': {'VCPU': 1}}]}]}
"""Its members may all be on one host."""

ONE = Requirements(resources=FrozenMapping({'VCPU': 1}))


def settle(world, provider, number):
    """Create this number of groups with two servers, and as many with two
    holds."""
    held = []
    for status, state in number * ((GroupStatus.COMPLETE, MemberState.BUILT),
                                   (GroupStatus.PLANNED, MemberState.PLANNED)):
        group = builders.a_group(
            status, document=LOOSE, created_at=world.now)
        members = [
            replace(row, place=Place('a1', 'a1', provider, ('a',)),
                    member=replace(row.member, requirements=ONE))
            for row in builders.members_of(group, {'node': 2})]
        if state == MemberState.BUILT:
            members = [replace(row, state=state, held=False,
                               instance_uuid=builders.new_uuid())
                       for row in members]
            for row in members:
                world.instances.set(row.instance_uuid, 'ACTIVE', 'a1')
        else:
            held.extend(members)
        world.table.create_group(group)
        world.table.write_members(group.uuid, members)
    world.holds.put(held, 'blue', 'ann')


@pytest.fixture
def read(monkeypatch):
    """Groups and members that are read completely."""
    found = []

    def noted(function):
        def note(row):
            found.append(function(row))
            return found[-1]
        return note

    for name in ('light_group_record', 'bare_member'):
        monkeypatch.setattr(rows, name, noted(getattr(rows, name)))
    return found


@built_rows_alone
def test_a_pass_costs_as_many_statements_at_10_groups_as_at_100(world, read):
    provider = world.placement.add_host('large', 1000, 1)
    sent = {}
    for number in (5, 45):
        settle(world, provider, number)
        # Each group is checked once.
        assert world.reconciler.reconcile() == {}
        forget_changes(world.table)
        read.clear()
        with recorded(world.table.database.engine) as sent[number]:
            assert world.reconciler.reconcile() == {}
    assert 0 < len(sent[5].statements) == len(sent[45].statements)
    assert read == []
    assert len(world.table.list_groups()) == len(read) == 100


@pytest.fixture
def visits(monkeypatch):
    """Fields of outlines of groups and members that are read in memory."""
    found = []

    def read(outline, field):
        found.append(field)
        return object.__getattribute__(outline, field)

    for kind in GroupOutline, MemberOutline:
        monkeypatch.setattr(kind, '__getattribute__', read)
    return found


@built_rows_alone
def test_a_pass_without_changes_goes_over_no_group_and_no_member(
        world, visits, monkeypatch):
    """Each pass compares the next group with the table, and nothing else."""
    monkeypatch.setattr(outlines, 'ROWS', 1)
    world.conf.set_override('recheck_requests', 0, group='reconciler')
    provider = world.placement.add_host('large', 1000, 1)
    nova = Nova(lambda: world.now)
    engine = Reconciler(world.components(
        instances=NovaInstances(nova.adapter)))
    found = {}
    for number in 3, 27:
        settle(world, provider, number)
        for group in world.table.list_groups():
            for row in world.table.members(group.uuid):
                if row.instance_uuid:
                    nova.set(row.instance_uuid, 'a1')
        engine.reconcile()
        forget_changes(world.table)
        # Later passes do not read these changes of servers again.
        world.wait(OVERLAP.total_seconds() + 1)
        assert engine.reconcile() == {}
        visits.clear()
        assert engine.reconcile() == {}
        found[number] = len(visits)
    # The comparison of one group with two members.
    assert found[3] == found[27] < 100


@built_rows_alone
def test_groups_that_need_work_are_found_among_settled_ones(world):
    provider = world.placement.add_host('large', 1000, 1)
    settle(world, provider, 5)
    group = world.create(lease=0)
    robbed = world.table.members(group.uuid)[0]
    world.holds.drop([robbed.hold])
    unsettled = world.create(shop(1), lease=0)
    row = world.build(unsettled, 'web')
    world.table.release([m.hold for m in world.table.members(unsettled.uuid)
                         if m.id != row.id], world.now)
    world.holds.drop([m.hold for m in world.table.members(unsettled.uuid)])
    world.instances.set(row.instance_uuid, 'ACTIVE', 'b2')
    assert world.reconciler.reconcile() == {'vanished': 1, 'moved': 1}
    assert world.table.get_group(unsettled.uuid).status == 'complete'
    assert world.holds.exists(robbed.hold)
