# SPDX-License-Identifier: Apache-2.0
"""Written rows are read unchanged, and states change only as expected."""

from dataclasses import replace
from datetime import timedelta

from oslo_config import cfg
import pytest

from nova_holistic.conf import database
from nova_holistic.table import errors
from nova_holistic.table.queries.group_page import Page
from nova_holistic.table.records import GroupStatus, MemberState, Place
from nova_holistic.table.store import PlacementTable
from tests.unit.table import builders

NOON = builders.NOON


def test_a_group_is_read_as_it_was_written(table):
    group = builders.a_group(
        reasons=({'at': 'db', 'message': 'no room'},),
        lease_expires_at=NOON + timedelta(hours=1))
    table.create_group(group)
    assert table.get_group(group.uuid) == group


def test_times_are_read_as_they_were_written(table):
    moment = NOON + timedelta(microseconds=123456)
    group = builders.planned(table, builders.a_group(
        lease_expires_at=moment, created_at=moment, updated_at=moment,
        engine_at=moment), web=None)
    assert table.get_group(group.uuid) == group
    (web,) = table.members(group.uuid)
    table.change_state(web.id, [web.state], web.state, moment)
    assert table.members(group.uuid)[0].updated_at == moment


def test_members_are_read_as_they_were_written_and_in_order(table):
    group = builders.a_group()
    table.create_group(group)
    members = builders.members_of(group, {'node': 12})
    table.write_members(group.uuid, members)
    read = table.members(group.uuid)
    assert [replace(m, id=0) for m in read] == members
    assert len({m.id for m in read}) == 12


def test_an_unknown_group_has_no_rows(table):
    assert table.get_group(builders.new_uuid()) is None
    assert table.members(builders.new_uuid()) == ()
    assert table.member_of_instance(builders.new_uuid()) is None


def test_a_second_group_with_the_same_uuid_is_refused(table, shop):
    with pytest.raises(errors.TableError):
        table.create_group(shop)


def test_groups_are_listed_by_project(table, shop):
    other = builders.planned(table, builders.a_group(project_id='red'))
    assert table.list_groups('blue') == (table.get_group(shop.uuid),)
    assert {g.uuid for g in table.list_groups()} == {shop.uuid, other.uuid}


def test_names_are_compared_exactly_and_may_be_any_text(table):
    for name in ('shop', 'Shop', 'shöp', '\U0001f34c', '\U0001f34e'):
        builders.planned(table, builders.a_group(name=name))
    for name in ('shop', '\U0001f34c'):
        assert [group.name for group in table.listing.groups(Page(
            limit=10, project_id='blue', name=name))] == [name]


def test_a_lone_surrogate_raises_table_error(table):
    with pytest.raises(errors.TableError):
        table.listing.groups(Page(limit=10, name='\ud800'))


def test_a_group_changes_only_from_an_expected_status(table, shop):
    later = NOON + timedelta(hours=2)
    assert not table.update_group(
        shop.uuid, [GroupStatus.PLANNING], status=GroupStatus.ERROR)
    assert table.update_group(
        shop.uuid, [GroupStatus.PLANNED, GroupStatus.BUILDING],
        lease_expires_at=later, updated_at=later)
    group = table.get_group(shop.uuid)
    assert (group.status, group.lease_expires_at) == (
        GroupStatus.PLANNED, later)


def test_a_member_changes_only_from_an_expected_state(table, shop):
    web = table.members(shop.uuid)[0]
    moved = Place('cmp-7', 'cmp-7', builders.new_uuid(), ('rack3',))
    assert not table.change_state(
        web.id, [MemberState.CLAIMED], MemberState.BUILT, NOON)
    assert table.change_state(
        web.id, [MemberState.PLANNED], MemberState.LOST, NOON, held=False,
        place=moved)
    assert table.members(shop.uuid)[0] == replace(
        web, state=MemberState.LOST, held=False, place=moved)


def test_a_new_plan_replaces_only_unclaimed_rows(table, shop):
    instance = builders.new_uuid()
    table.claim(shop.uuid, 'db/node-1', instance, NOON)
    again = [m for m in builders.members_of(shop, {'web': None, 'node': 3})
             if m.member.path != 'db/node-1']
    table.write_members(shop.uuid, again)
    read = {m.member.path: m for m in table.members(shop.uuid)}
    assert read['db/node-1'].instance_uuid == instance
    assert {m.hold for m in again} == {
        m.hold for m in read.values() if m.member.path != 'db/node-1'}


def test_release_does_not_change_claimed_members(table, shop):
    table.claim(shop.uuid, 'db/node-0', builders.new_uuid(), NOON)
    table.release([m.hold for m in table.members(shop.uuid)], NOON)
    assert [m.state for m in table.members(shop.uuid)] == [
        MemberState.RELEASED, MemberState.CLAIMED, MemberState.RELEASED,
        MemberState.RELEASED]


def test_a_release_skips_rows_of_a_later_plan(table, shop):
    """SQLite reuses the IDs of deleted rows."""
    seen = table.members(shop.uuid)
    table.write_members(
        shop.uuid, builders.members_of(shop, {'web': None, 'node': 3}))
    table.release([m.hold for m in seen], NOON)
    assert {m.state for m in table.members(shop.uuid)} == {
        MemberState.PLANNED}


def test_a_place_is_not_offered_to_a_member_of_another_group(table, shop):
    (row,) = lost(table, shop, {'db/node-0'})
    table.delete_group(shop.uuid)
    other = builders.planned(table, web=None, node=3)
    before = lost(table, other, {'db/node-0'})
    assert not table.offer_places([renewed(row)])
    assert table.members(other.uuid)[1] == before[0]


def test_deleting_a_group_deletes_its_rows(table, shop):
    table.delete_group(shop.uuid)
    assert table.get_group(shop.uuid) is None
    assert table.members(shop.uuid) == ()


def test_expired_groups_have_an_ended_lease_and_planned_members(table):
    lease = {'lease_expires_at': NOON}
    waiting = builders.planned(table, builders.a_group(**lease), web=None)
    taken = builders.planned(table, builders.a_group(**lease), web=None)
    table.claim(taken.uuid, 'db/web', builders.new_uuid(), NOON)
    builders.planned(table, builders.a_group(), web=None)
    assert table.expired_groups(NOON - timedelta(seconds=1)) == ()
    assert [g.uuid for g in table.expired_groups(NOON)] == [waiting.uuid]


@pytest.mark.parametrize('states, status', [
    (['planned', 'planned'], 'planned'),
    (['planned', 'claimed'], 'building'),
    (['planned', 'built'], 'building'),
    (['built', 'lost'], 'building'),
    (['built', 'released'], 'complete'),
    (['released', 'released'], 'released'),
    (['released', 'lost'], 'planned'),
    (['released', 'failed'], 'building'),
    (['planned', 'failed'], 'building'),
    (['failed', 'failed'], 'building'),
])
def test_a_groups_status_follows_from_its_members(table, states, status):
    group = builders.planned(table, node=2)
    for row, state in zip(table.members(group.uuid), states, strict=True):
        builders.force_state(table, row.id, state)
    table.settle(group.uuid, NOON)
    assert table.get_group(group.uuid).status == status


def test_settle_leaves_a_group_being_planned_unchanged(table):
    group = builders.planned(
        table, builders.a_group(GroupStatus.PLANNING), web=None)
    table.settle(group.uuid, NOON)
    assert table.get_group(group.uuid).status == GroupStatus.PLANNING


def test_a_table_is_created_from_the_configuration(table_url):
    conf = cfg.ConfigOpts()
    database.register_opts(conf)
    conf.set_override('connection', table_url, group='holistic_database')
    conf([])
    assert PlacementTable.from_conf(conf).list_groups() == ()


@pytest.mark.parametrize('configured', [True, False])
def test_an_unreachable_database_fails_immediately(configured, monkeypatch):
    """The caller may repeat the call."""
    def sleep(seconds):
        raise AssertionError(f'slept for {seconds} s')

    monkeypatch.setattr('oslo_db.sqlalchemy.engines.time.sleep', sleep)
    url = 'postgresql+psycopg2://ann@127.0.0.1:1/holistic'
    table = PlacementTable(url)
    if configured:
        conf = cfg.ConfigOpts()
        database.register_opts(conf)
        conf.set_override('connection', url, group='holistic_database')
        table = PlacementTable.from_conf(conf)
    with pytest.raises(errors.TableError):
        table.get_group(builders.new_uuid())


def test_a_database_without_tables_raises_table_error(empty_url):
    table = PlacementTable(empty_url)
    with pytest.raises(errors.TableError):
        table.get_group(builders.new_uuid())


def lost(table, group, paths):
    for row in table.members(group.uuid):
        if row.member.path in paths:
            table.change_state(row.id, [MemberState.PLANNED],
                               MemberState.LOST, NOON, held=False)
    return [row for row in table.members(group.uuid)
            if row.state == MemberState.LOST]


def renewed(row):
    return replace(row, hold=builders.new_uuid(), held=True, place=Place(
        'cmp-7', 'cmp-7', builders.new_uuid(), ('rack3',)), alternates=())


def test_lost_members_are_planned_at_the_offered_places(
        table, shop):
    renewed_rows = [renewed(row) for row in lost(table, shop, {'db/node-0'})]
    assert table.offer_places(renewed_rows)
    with pytest.raises(errors.ClaimRefused):
        table.claim(shop.uuid, 'db/node-0', builders.new_uuid(), NOON)
    table.accept_places([row.hold for row in renewed_rows], NOON)
    found = next(row for row in table.members(shop.uuid)
                 if row.member.path == 'db/node-0')
    assert found == replace(renewed_rows[0], state=MemberState.PLANNED)


def test_places_are_offered_to_all_given_members_or_none(table, shop):
    first, second = lost(table, shop, {'db/node-0', 'db/node-1'})
    assert table.offer_places([renewed(second)])
    before = table.members(shop.uuid)
    assert not table.offer_places([renewed(first), renewed(second)])
    assert table.members(shop.uuid) == before


def test_a_released_member_accepts_no_place(table, shop):
    renewed_rows = [renewed(row) for row in lost(table, shop, {'db/node-0'})]
    table.offer_places(renewed_rows)
    table.release([row.hold for row in renewed_rows], NOON)
    table.accept_places([row.hold for row in renewed_rows], NOON)
    assert {row.state for row in table.members(shop.uuid)
            if row.hold == renewed_rows[0].hold} == {MemberState.RELEASED}


def test_exclusive_groups_are_listed_with_their_placed_members(table, shop):
    assert table.exclusive_groups() == ()
    alone = builders.planned(
        table, builders.a_group(exclusive=True), node=2)
    table.release([table.members(alone.uuid)[0].hold], NOON)
    (found, members), = table.exclusive_groups()
    assert found == alone
    assert [m.member.path for m in members] == ['db/node-1']
    table.release([members[0].hold], NOON)
    assert table.exclusive_groups() == ()


def test_members_of_other_groups_on_given_hosts_are_found(table, shop):
    other = builders.planned(table, node=2)
    web, *nodes = table.members(shop.uuid)
    table.release([nodes[1].hold], NOON)
    assert sorted(table.hosts_of_members(
        ['cmp-0', 'cmp-1', 'cmp-5'], other.uuid)) == sorted(
            row.place.host for row in (web, nodes[0]))
    assert table.hosts_of_members([], other.uuid) == []


def test_a_failed_member_counts_on_its_host_while_it_has_a_server(table):
    """If Nova has deleted the server, the place will be held again."""
    group = builders.planned(table, web=None)
    web, = table.members(group.uuid)
    table.claim(group.uuid, web.member.path, builders.new_uuid(), NOON)
    table.change_state(web.id, [MemberState.CLAIMED], MemberState.FAILED, NOON)
    assert table.hosts_of_members([web.place.host], 'other') == [
        web.place.host]
    table.change_state(web.id, [MemberState.FAILED], MemberState.FAILED, NOON,
                       instance_uuid=None)
    assert table.hosts_of_members([web.place.host], 'other') == []


def test_group_with_members_reads_no_alternates(
        table, shop):
    record, members = table.group_with_members(shop.uuid)
    assert record == shop
    whole = table.members(shop.uuid)
    assert members == tuple(
        replace(member, alternates=()) for member in whole)
    found = table.alternates([member.id for member in whole[1:]])
    assert found == {member.id: member.alternates for member in whole[1:]}
    assert table.group_with_members(builders.new_uuid()) is None


def test_members_of_all_groups_are_found_without_their_alternates(table):
    groups = [builders.planned(table, web=1) for _ in range(2)]
    expected = {m.id: replace(m, alternates=()) for group in groups
                for m in table.members(group.uuid)}
    found = table.find_members([MemberState.PLANNED])
    assert {m.id: m for m in found} == expected
    assert len(expected) == 2
    assert table.find_members([MemberState.PLANNED], held=False) == ()
