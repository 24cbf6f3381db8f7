# SPDX-License-Identifier: Apache-2.0
"""A parent that has lost its table reads its groups from the children."""

from datetime import timedelta

import pytest

from nova_holistic.cli import manage
from nova_holistic.federation.child import ChildGroup, ChildMember
from nova_holistic.federation.recovery.found_parts import FoundPart
from nova_holistic.federation.recovery.merged_document import (
    merged_document)
from nova_holistic.federation.recovery.part_keys import parse_key
from nova_holistic.federation.recovery.recover import Owner, Recovery
from nova_holistic.federation.saga.saga import LONGEST_LEASE
from nova_holistic.table.records import GroupStatus, MemberState
from nova_holistic.table.store import PlacementTable
from tests.tables import new_table
from tests.unit.federation.clouds import member, NOON, TYPES

GROUP = '11111111-2222-3333-4444-555555555555'
BELOW = '99999999-2222-3333-4444-00000000000'
COMMIT = 120
LONG, SHORT = NOON + timedelta(hours=1), NOON + timedelta(seconds=COMMIT)


def part(cloud, paths, document=None, *, run='abc123-1.2', lease_end=LONG,
         state='planned', project='blue', settled=True):
    """Return a part of the group, as a cloud stores it."""
    key = f'parent-{GROUP}-{run}-{cloud}'
    number = [f'node-{n}' for n in range(2)]
    return FoundPart(
        parse_key(key), key, 'shop', project, 'ann', 'spread',
        document or {'name': 'shop', 'members': [
            {**member('node', 2), 'count': 2,
             'skip': [n for n in range(2) if number[n] not in paths]}]},
        ChildGroup(cloud, f'{BELOW}{len(cloud)}', 'planned', settled, {},
                   lease_end, tuple(ChildMember(path, state)
                                    for path in paths)))


PAIR = part('ams', ['node-0']), part('d-fw', ['node-1'])


@pytest.fixture
def table(tmp_path):
    return PlacementTable(new_table(tmp_path))


@pytest.fixture
def recover(table):
    """Return a function that runs a recovery, and returns the outcome of its
    only group, or None."""
    def recover(*parts, dry_run=False, **options):
        found = list(Recovery(table, TYPES, COMMIT, lambda: NOON, **options)
                     .run(parts, dry_run))
        assert len(found) <= 1
        return found[0] if found else None

    return recover


@pytest.mark.parametrize('text, found', [
    (f'eu.1-{GROUP}-0a1b2c-12.3-d-fw', ('eu.1', GROUP, '0a1b2c-12.3', 'd-fw',
                                        3)),
    (f'eu-{GROUP}-0a1b2c-1-ams', ('eu', GROUP, '0a1b2c-1', 'ams', None))])
def test_a_key_names_parent_group_try_and_child(text, found):
    key = parse_key(text)
    assert (key.parent, key.group, key.run, key.child, key.number) == found


@pytest.mark.parametrize('text', [
    None, '', 'mine', f'eu-{GROUP}', f'eu-{GROUP}-0a1b2c-1.2-',
    f'e-u-{GROUP}-0a1b2c-1.2-ams', f'eu-{GROUP[1:]}-0a1b2c-1.2-ams'])
def test_other_keys_are_not_those_of_a_parent(text):
    assert parse_key(text) is None


def test_a_split_group_is_written_with_its_members_and_parts(recover, table):
    outcome = recover(*PAIR)
    assert (outcome.result, outcome.clouds, outcome.members) == (
        'recovered', ('ams', 'd-fw'), 2)
    group = table.get_group(GROUP)
    assert (group.status, group.project_id, group.user_id, group.task,
            group.lease_expires_at) == (
                GroupStatus.PLANNED, 'blue', 'ann', None, LONG)
    assert {row.member.path: (row.state, row.place.host)
            for row in table.members(GROUP)} == {
                'node-0': (MemberState.PLANNED, 'ams'),
                'node-1': (MemberState.PLANNED, 'd-fw')}
    assert {(each.child, tuple(each.paths), each.child_group, each.state)
            for each in table.parts.of_group(GROUP)} == {
                ('ams', ('node-0',), f'{BELOW}3', 'committed'),
                ('d-fw', ('node-1',), f'{BELOW}4', 'committed')}


def test_a_group_in_the_table_is_never_changed(recover, table):
    recover(*PAIR)
    before = table.get_group(GROUP)
    assert recover(PAIR[0], part('d-fw', ['node-1'], state='built')
                   ).result == 'known'
    assert table.get_group(GROUP) == before
    assert {row.state for row in table.members(GROUP)} == {'planned'}


def test_a_dry_run_writes_nothing(recover, table):
    assert recover(*PAIR, dry_run=True).result == 'recovered'
    assert table.list_groups() == ()


def test_what_an_earlier_try_left_behind_is_no_part(recover, table):
    left = part('ams', ['node-0'], run='abc123-7.2', lease_end=SHORT)
    expired = part('ams', ['node-0'], run='fff123-1.1', state='released')
    assert recover(left, *PAIR, expired).result == 'recovered'
    assert len(table.parts.of_group(GROUP)) == 2


@pytest.mark.parametrize('parts, why', [
    ([part('ams', ['node-0'], lease_end=SHORT)], 'the parent has extended'),
    ([part('ams', ['node-0'], state='released'),
      part('d-fw', ['node-1'], state='lost')], 'the parent has extended'),
    (PAIR[:1], '1 of its 2 parts'),
    ([part('ams', ['node-0'], run='abc123-1', document={
        'name': 'shop', 'members': [{**member('node'), 'count': 2}]})],
     'has member node-1'),
    ([*PAIR, part('ams', ['node-0'], run='fff123-1.1')], 'several tries'),
    ([part('ams', ['node-0', 'node-1']), PAIR[1]],
     'clouds ams and d-fw both have member node-1'),
    ([PAIR[0], part('d-fw', ['node-1'], state='happy')], 'unknown state'),
    ([PAIR[0], part('d-fw', ['node-1'], settled=False)], 'works on it'),
    ([PAIR[0], part('d-fw', ['node-1'], project='red')], 'several owners'),
    ([PAIR[0], part('d-fw', ['node-1'], {'name': 'shop', 'members': 5})],
     'members'),
    ([part('ams', ['node-0', 'other'], run='abc123-1.1', document={
        'name': 'shop', 'members': [{**member('node'), 'count': 1}]})],
     'reports member other')])
def test_parts_that_do_not_fit_together_are_left(recover, table, parts, why):
    outcome = recover(*parts)
    assert (outcome.result, why in outcome.why) == ('left', True), outcome
    assert table.list_groups() == ()


def test_a_part_with_a_server_belongs_to_the_group_after_its_lease(
        recover, table):
    assert recover(part('ams', ['node-0'], lease_end=None, state='built'),
                   part('d-fw', ['node-1'], lease_end=None, state='released')
                   ).result == 'recovered'
    assert table.get_group(GROUP).status == GroupStatus.COMPLETE


@pytest.mark.parametrize('other, end', [
    (None, None), (NOON + timedelta(seconds=LONGEST_LEASE), None),
    (LONG, LONG)])
def test_the_longest_lease_of_a_part_is_not_a_lease_of_the_group(
        recover, table, other, end):
    """The group was placed some days ago without a lease; members of one part
    may have a lease since."""
    longest = NOON + timedelta(seconds=LONGEST_LEASE) - timedelta(days=9)
    assert recover(part('ams', ['node-0'], lease_end=longest),
                   part('d-fw', ['node-1'], lease_end=other)
                   ).result == 'recovered'
    assert table.get_group(GROUP).lease_expires_at == end


def test_users_of_another_keystone_are_not_those_of_the_parent(
        recover, table):
    outcome = recover(*PAIR, own_keystone=['ams', 'd-fw'])
    assert (outcome.result, '--project-id' in outcome.why) == ('left', True)
    assert recover(*PAIR, own_keystone=['ams', 'd-fw'],
                   owner=Owner('green', 'joe')).result == 'recovered'
    assert (table.get_group(GROUP).project_id,
            table.get_group(GROUP).user_id) == ('green', 'joe')


def test_the_document_has_the_rules_and_locations_of_all_parts():
    apart = {'type': 'anti-affinity', 'level': 'host', 'max_per_domain': 2}
    near = {'type': 'location', 'path': 'room1', 'weight': 2}
    assert merged_document([
        ('ams', {'name': 'shop', 'policies': [apart, near], 'members': [
            {**member('web'), 'count': 3, 'skip': [0, 2]}], 'groups': [
                {'name': 'db', 'members': [member('one')]}]}),
        ('dfw', {'name': 'shop', 'policies': [apart], 'members': [
            {**member('web'), 'count': 3, 'skip': [0, 1]},
            {**member('far'), 'location': 'room2/rack1'}], 'groups': [
                {'name': 'db', 'members': [member('two')]}]})]) == {
        'name': 'shop',
        'policies': [apart, {**near, 'path': 'ams/room1'}],
        'members': [
            {**member('web'), 'count': 3, 'skip': [0]},
            {**member('far'), 'location': 'dfw/room2/rack1'}],
        'groups': [{'name': 'db', 'members': [member('one'), member('two')]}]}


@pytest.mark.parametrize('options, words, mistake', [
    ('', [], '[federation] children: the option is not set'),
    ('children = {}/children.yaml', ['--project-id', 'blue'],
     '--project-id: give it together with --user-id'),
    ('children = {}/children.yaml', [],
     'recover.yaml: credentials: child dfw is missing'),
    ('children = {}/missing.yaml', [], 'missing.yaml: No such file'),
    ('children = {}/children.yaml', ['--credentials', 'missing.yaml'],
     'missing.yaml: No such file')])
def test_wrong_usage_is_refused(tmp_path, capsys, options, words, mistake):
    (tmp_path / 'children.yaml').write_text(
        'children: [{name: dfw, endpoint: "http://127.0.0.1:9"}]')
    (tmp_path / 'recover.yaml').write_text('credentials: {}')
    config = tmp_path / 'parent.conf'
    config.write_text(
        f'[holistic_database]\nconnection = {new_table(tmp_path)}\n'
        f'[federation]\n{options.format(tmp_path)}\n')
    assert manage.main(['--config-file', str(config), 'federation', 'recover',
                        '--credentials', str(tmp_path / 'recover.yaml'),
                        *words]) == 2
    assert mistake in capsys.readouterr().err
