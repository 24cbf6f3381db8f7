# SPDX-License-Identifier: Apache-2.0
"""Of two concurrent moves of a member, one succeeds."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nova_holistic.table.changes.group_growth import grow, Growth
from nova_holistic.table.changes.member_moves import (
    correct, Move, move, write_destination)
from nova_holistic.table.records import MemberState, Place
from tests.unit.table.builders import a_group, members_of, new_uuid, NOON

THERE = Place('cmp-7', 'cmp-7', new_uuid(), ('rack7',))


@pytest.fixture
def claimed(table):
    """The rows of two members, each with an instance."""
    group = a_group()
    table.create_group(group)
    table.write_members(group.uuid, members_of(group, {'node': 2}))
    for row in table.members(group.uuid):
        table.claim(group.uuid, row.member.path, new_uuid(), NOON)
    return table.members(group.uuid)


def moved(row):
    return replace(row, place=THERE, hold=new_uuid())


def test_a_move_writes_place_and_hold(table, claimed):
    first, second = claimed
    moved_row = moved(first)
    assert move(table.database, moved_row, first.hold, claimed, NOON) == (
        Move.WRITTEN)
    now = table.members(first.group_uuid)
    assert (now[0].place, now[0].hold) == (THERE, moved_row.hold)
    assert now[1] == second


def test_a_move_that_was_checked_before_another_one_is_not_written(
        table, claimed):
    first, second = claimed
    move(table.database, moved(first), first.hold, claimed, NOON)
    before = table.members(first.group_uuid)
    moved_row = moved(second)
    assert move(table.database, moved_row, second.hold, claimed, NOON) == (
        Move.OVERTAKEN)
    assert table.members(first.group_uuid) == before
    # It succeeds after another check.
    assert move(table.database, moved_row, second.hold, before, NOON) == (
        Move.WRITTEN)


def test_a_move_that_is_written_again_is_found_written(table, claimed):
    first, _ = claimed
    moved_row = moved(first)
    for _ in range(2):
        assert move(table.database, moved_row, first.hold, claimed, NOON) == (
            Move.WRITTEN)


@pytest.mark.parametrize('change', [
    {'to': MemberState.PLANNED}, {'instance_uuid': new_uuid()}])
def test_a_member_that_was_taken_back_does_not_move(table, claimed, change):
    first, _ = claimed
    table.change_state(first.id, [MemberState.CLAIMED], **{
        'to': MemberState.CLAIMED, 'now': NOON, **change})
    before = table.members(first.group_uuid)
    assert move(table.database, moved(first), first.hold, claimed, NOON) == (
        Move.GONE)
    assert table.members(first.group_uuid) == before


@pytest.fixture
def built(table, claimed):
    """The rows of members with running servers."""
    for row in claimed:
        table.change_state(row.id, [MemberState.CLAIMED], MemberState.BUILT,
                           NOON, held=False)
    return table.members(claimed[0].group_uuid)


def sent(row, place=THERE):
    return replace(row, destination=place)


def test_a_destination_is_written_beside_the_place(table, built):
    first, second = built
    assert write_destination(
        table.database, sent(first), built, NOON) == Move.WRITTEN
    now = table.members(first.group_uuid)
    assert (now[0].place, now[0].destination) == (first.place, THERE)
    assert now[1] == second


def test_a_destination_that_was_checked_before_another_one_is_not_written(
        table, built):
    first, second = built
    write_destination(table.database, sent(first), built, NOON)
    before = table.members(first.group_uuid)
    assert write_destination(
        table.database, sent(second), built, NOON) == Move.OVERTAKEN
    assert table.members(first.group_uuid) == before
    # After another check, it is written.
    assert write_destination(
        table.database, sent(second), before, NOON) == Move.WRITTEN


def test_the_same_destination_again_is_checked_again(table, built):
    """The member was sent there before, and that move failed."""
    first, second = built
    write_destination(table.database, sent(first), built, NOON)
    before = table.members(first.group_uuid)
    write_destination(table.database, sent(second), before, NOON)
    assert write_destination(
        table.database, sent(before[0]), before, NOON) == Move.OVERTAKEN


def test_a_claim_does_not_move_where_a_server_is_sent_meanwhile(
        table, claimed):
    first, second = claimed
    table.change_state(second.id, [MemberState.CLAIMED], MemberState.BUILT,
                       NOON, held=False)
    rows = table.members(first.group_uuid)
    write_destination(table.database, sent(rows[1]), rows, NOON)
    assert move(table.database, moved(first), first.hold, rows, NOON) == (
        Move.OVERTAKEN)


def test_a_server_whose_group_is_deleted_meanwhile_is_not_overtaken(
        table, built):
    first, *_ = built
    table.delete_group(first.group_uuid)
    assert write_destination(
        table.database, sent(first), built, NOON) == Move.GONE


def test_a_server_that_is_gone_gets_no_destination(table, built):
    first, _ = built
    table.change_state(first.id, [MemberState.BUILT], MemberState.CLAIMED,
                       NOON, instance_uuid=None)
    assert write_destination(
        table.database, sent(first), built, NOON) == Move.GONE


def test_a_place_is_corrected_after_a_move(table, built):
    """A database may store the time of the last change without
    microseconds."""
    table.change_state(
        built[0].id, [MemberState.BUILT], MemberState.BUILT,
        NOON + timedelta(microseconds=600_001))
    first, second = table.members(built[0].group_uuid)
    assert correct(table.database, first, NOON, place=THERE)
    now = table.members(first.group_uuid)
    assert (now[0].place, now[0].state) == (THERE, MemberState.BUILT)
    assert now[1] == second


def test_a_correction_does_not_replace_a_destination_written_meanwhile(
        table, built):
    """The server moves again after the state of its last move was read."""
    first, _ = built
    write_destination(table.database, sent(first), built, NOON)
    before = table.members(first.group_uuid)
    assert not correct(
        table.database, first, NOON, place=replace(THERE, host='cmp-8'),
        destination=None)
    assert table.members(first.group_uuid) == before


def test_a_correction_does_not_replace_the_same_destination_written_again(
        table, built):
    """A move to this host has failed, and then the server is sent there
    again."""
    first, _ = built
    write_destination(table.database, sent(first), built, NOON)
    seen = table.members(first.group_uuid)
    write_destination(table.database, sent(seen[0]), seen,
                      NOON + timedelta(seconds=1))
    before = table.members(first.group_uuid)
    assert not correct(table.database, seen[0], NOON, destination=None)
    assert table.members(first.group_uuid) == before
    assert correct(table.database, before[0], NOON, destination=None)


@pytest.mark.parametrize('change', [
    {'to': MemberState.CLAIMED}, {'instance_uuid': new_uuid()}])
def test_a_server_that_is_gone_is_not_corrected(table, built, change):
    first, _ = built
    table.change_state(first.id, [MemberState.BUILT], **{
        'to': MemberState.BUILT, 'now': NOON, **change})
    assert not correct(table.database, first, NOON, place=THERE)


@pytest.fixture
def lost(table, claimed):
    """A lost member with an offered place, which is not accepted yet."""
    _, second = claimed
    table.change_state(second.id, [MemberState.CLAIMED], MemberState.LOST,
                       NOON, held=False, instance_uuid=None)
    offered = replace(
        table.members(second.group_uuid)[1], place=THERE, hold=new_uuid(),
        held=True)
    assert table.offer_places([offered])
    return offered


def test_a_claim_does_not_move_where_a_lost_member_is_planned_meanwhile(
        table, claimed, lost):
    """Lost members do not count, so the check found the host free."""
    first, _ = claimed
    rows = table.members(first.group_uuid)
    table.accept_places([lost.hold], NOON)
    assert move(table.database, moved(first), first.hold, rows, NOON) == (
        Move.OVERTAKEN)
    rows = table.members(first.group_uuid)
    assert move(table.database, moved(first), first.hold, rows, NOON) == (
        Move.WRITTEN)


def test_no_server_is_sent_where_a_lost_member_is_planned_meanwhile(
        table, claimed, lost):
    first, _ = claimed
    table.change_state(first.id, [MemberState.CLAIMED], MemberState.BUILT,
                       NOON, held=False)
    rows = table.members(first.group_uuid)
    table.accept_places([lost.hold], NOON)
    assert write_destination(
        table.database, sent(rows[0]), rows, NOON) == Move.OVERTAKEN


def test_no_server_is_added_where_a_lost_member_is_planned_meanwhile(
        table, claimed, lost):
    first, _ = claimed
    rows = table.members(first.group_uuid)
    record = table.get_group(first.group_uuid)
    added = replace(
        first, place=THERE, hold=new_uuid(), instance_uuid=new_uuid(),
        member=replace(first.member, path='node-2'))
    table.accept_places([lost.hold], NOON)
    assert grow(table.database, Growth(record, added), rows, NOON) is None
    rows = table.members(first.group_uuid)
    assert grow(table.database, Growth(record, added), rows, NOON)


def test_no_server_replaces_another_one_whose_member_is_released_meanwhile(
        table, claimed):
    """The server of the member is deleted, and its user does not want
    another one."""
    first, _ = claimed
    record = table.get_group(first.group_uuid)
    added = replace(first, hold=new_uuid(), instance_uuid=new_uuid())
    table.release([first.hold], NOON, with_servers=True)
    assert grow(table.database, Growth(record, added, first), claimed,
                NOON) is None
    (row, _) = table.members(first.group_uuid)
    assert (row.instance_uuid, row.unwanted) == (first.instance_uuid, True)


def test_a_claim_does_not_move_where_a_failed_server_runs_meanwhile(
        table, claimed):
    first, second = claimed
    table.change_state(second.id, [MemberState.CLAIMED], MemberState.FAILED,
                       NOON)
    rows = table.members(first.group_uuid)
    table.change_state(second.id, [MemberState.FAILED], MemberState.BUILT,
                       NOON)
    assert move(table.database, moved(first), first.hold, rows, NOON) == (
        Move.OVERTAKEN)
