# SPDX-License-Identifier: Apache-2.0
"""The positions of the members of exclusive groups follow each change of a row
and of a server. They are the same as those of a first read."""

from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
import pytest

from nova_holistic.model import layered_mapping
from nova_holistic.model.members.member import Member
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler.policies.group_positions import MAX_AGE_SECONDS
from nova_holistic.scheduler.policies.member_positions import (
    MemberPositionCache)
from nova_holistic.scheduler.policies import server_locations
from nova_holistic.scheduler.policies.server_locations import (
    at, CellAnswer, NOWHERE, OWNED)
from nova_holistic.table.queries.group_members import GroupMembers
from nova_holistic.table.records import MemberRecord, MemberState, Place
from tests.effort import examples
from tests.executed_lines import executed

PLANNED, CLAIMED, BUILT = (
    MemberState.PLANNED, MemberState.CLAIMED, MemberState.BUILT)


class World:
    """Groups with members, and their servers in cells of Nova.

    :ivar hosts: host of each server by its UUID; None if it is on no host
    :ivar groups: members of each group by its UUID
    """

    def __init__(self, members, groups=2):
        self.hosts = {}
        self.groups = {f'group-{group}': GroupMembers.of([
            row(group * members + number, f'group-{group}')
            for number in range(members)]) for group in range(groups)}
        self.found = ()
        self.change([], {})

    def change(self, gone, rows):
        """Delete rows, and write rows, by their IDs."""
        for uuid, members in self.groups.items():
            if any(each.id in gone for each in members):
                self.groups[uuid] = GroupMembers.of(
                    [each for each in members if each.id not in gone])
            mine = [rows[each.id] for each in self.groups[uuid]
                    if each.id in rows]
            if mine:
                self.groups[uuid] = self.groups[uuid].updated(mine)
        self.found = tuple(
            (SimpleNamespace(uuid=uuid, project_id='blue'), members)
            for uuid, members in self.groups.items())

    def regroup(self, number, only):
        """Give the ID of a row, or those of all rows of its group, to rows of
        another group."""
        each = self.row(number)
        moved = [row for row in self.groups[each.group_uuid]
                 if row is each or not only]
        left = [row for row in self.groups.pop(each.group_uuid)
                if row not in moved]
        to = f'group-{len(self.groups) + number}'
        for uuid, rows in (each.group_uuid, left), (to, [
                *self.groups.get(to, ()), *moved]):
            if rows:
                self.groups[uuid] = GroupMembers.of([
                    replace(row, group_uuid=uuid) for row in rows])
        self.change([], {})

    def row(self, number):
        return next((members.by_id[number] for members in self.groups.values()
                     if number in members.by_id), None)

    def by_cell_number(self, context, servers):
        found = defaultdict(list)
        for server in servers:
            if server in self.hosts:
                found[cell_of(server)].append(server)
        return found

    def cell_mappings(self, context, numbers):
        return [SimpleNamespace(id=number, uuid=f'cell-{number}')
                for number in numbers]

    def in_cells(self, context, cells, wanted):
        return {cell.uuid: CellAnswer({
            server: seen for server, each in {
                **wanted[cell.uuid].watched, **wanted[cell.uuid].rows}.items()
            if cell_of(server) == cell.id and (
                (seen := self.seen(server)) is not wanted[
                    cell.uuid].last.get(each.id)
                or server in wanted[cell.uuid].rows)}) for cell in cells}

    def seen(self, server):
        host = self.hosts.get(server)
        return NOWHERE if host is None else at(host)

    def expected(self):
        """Host of each member that uses capacity, by group and ID."""
        return {uuid: {each.id: host for each in members if (
            host := self.hosts.get(each.instance_uuid)
            if each.state in OWNED else each.place.host) is not None}
            for uuid, members in self.groups.items()}


def cell_of(server):
    return int(server[-1]) % 2


def row(number, group):
    return MemberRecord(
        id=number, group_uuid=group, member=Member(
            f'm-{number}', 'm', Requirements()),
        place=Place(f'h{number}', f'h{number}', 'p'), hold=f'hold-{number}',
        held=True, state=PLANNED, instance_uuid=None)


def patched(world):
    return mock.patch.multiple(
        server_locations, by_cell_number=world.by_cell_number,
        cell_mappings=world.cell_mappings, in_cells=world.in_cells)


def hosts(positions):
    return {uuid: {number: each.host for number, each in found.items()}
            for uuid, found in positions.items()}


NUMBERS = st.integers(0, 9)
KINDS = ('claim', 'build', 'plan', 'move', 'lose', 'delete', 'regroup',
         'transfer')
STEPS = st.lists(st.tuples(
    st.sampled_from(KINDS), NUMBERS, st.integers(0, 3)), max_size=4)


@given(st.lists(STEPS, min_size=2, max_size=7), st.integers(0, 5))
@examples(300)
def test_positions_follow_each_change(rounds, most):
    world, cache = World(5), MemberPositionCache()
    with patched(world), pytest.MonkeyPatch.context() as patch:
        patch.setattr(layered_mapping, 'MIN_CHANGES', most)
        last = None
        for steps in rounds:
            for step in steps:
                take(world, *step)
            found = cache.positions(None, world.found)
            assert hosts(found) == world.expected()
            assert found == MemberPositionCache().positions(None, world.found)
            assert (found is last) == (found == last)
            last = found


def take(world, kind, number, host):
    each, server = world.row(number), f'server-{number}'
    if each is None:
        return
    if kind == 'delete':
        world.hosts.pop(each.instance_uuid, None)
        world.change([number], {})
    elif kind in ('regroup', 'transfer'):
        world.regroup(number, kind == 'transfer')
    elif kind == 'plan':
        world.change([], {number: replace(
            each, state=PLANNED, instance_uuid=None,
            place=Place(f'h{host}', f'h{host}', 'p'))})
    elif kind in ('claim', 'build'):
        world.hosts[server] = f'h{host}'
        world.change([], {number: replace(
            each, state=CLAIMED if kind == 'claim' else BUILT,
            instance_uuid=server)})
    elif each.instance_uuid is not None:
        world.hosts[server] = f'h{host}' if kind == 'move' else None


def test_only_the_own_group_is_read_again_after_some_time():
    """A change without a date is found then."""
    world, seconds = World(5), [0]
    cache = MemberPositionCache(clock=lambda: seconds[0])
    take(world, 'build', 0, 1)
    take(world, 'build', 7, 1)

    def read(own):
        found = cache.positions(None, world.found, own)
        return found['group-0'][0].host, found['group-1'][7].host

    with patched(world):
        assert read('group-0') == ('h1', 'h1')
        world.hosts.update({'server-0': 'h2', 'server-7': 'h3'})
        answer = world.in_cells
        with mock.patch.object(
                server_locations, 'in_cells',
                lambda context, cells, wanted: answer(context, cells, {
                    uuid: replace(each, watched={})
                    for uuid, each in wanted.items()})):
            seconds[0] = MAX_AGE_SECONDS - 1
            assert read('group-0') == ('h1', 'h1')
            seconds[0] += 1
            assert read(None) == ('h1', 'h1')
            assert read('group-0') == ('h2', 'h1')
            world.hosts['server-0'] = 'h1'
            seconds[0] += 1
            assert read('group-0') == ('h2', 'h1')
            assert read('group-1') == ('h2', 'h3')
            seconds[0] += MAX_AGE_SECONDS
            assert read('group-0') == ('h1', 'h3')


def test_a_claim_visits_only_its_member():
    counts = []
    for members in 10, 1_000:
        world, cache = World(members), MemberPositionCache()
        with patched(world):
            for number in range(4):
                cache.positions(None, world.found)
                take(world, 'claim', number, 1)
            counts.append(executed(
                lambda: cache.positions(None, world.found)).total())
    assert counts[0] == counts[1] > 0
