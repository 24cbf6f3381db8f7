# SPDX-License-Identifier: Apache-2.0
"""The paths and scopes of the members of a group."""

from tests.unit.builders import group, servers

SHOP = group(
    servers('gateway'),
    groups=[group(servers('node', 2), name='db',
                  groups=[group(servers('log'), name='disks')]),
            group(servers('server', 1), name='web')])


def test_paths_start_below_the_top_level_group():
    assert [m.path for m in SHOP.all_members()] == [
        'gateway', 'db/node-0', 'db/node-1', 'db/disks/log', 'web/server-0']


def test_a_member_has_the_path_of_its_description():
    assert [m.description for m in SHOP.all_members()] == [
        'gateway', 'db/node', 'db/node', 'db/disks/log', 'web/server']


def test_a_count_of_1_adds_an_index_and_no_count_adds_none():
    assert servers('a', 1).server_names() == ('a-0',)
    assert servers('a').server_names() == ('a',)


def test_the_scope_of_a_group_has_all_members_below_it():
    assert {scope.path: len(scope.members) for scope in SHOP.scopes()} == {
        '': 5, 'db': 3, 'db/disks': 1, 'web': 1}


def test_only_keeps_the_named_servers_of_a_group():
    whole = group(servers('web', 2), servers('lb'), groups=[
        group(servers('node', 3), name='db'),
        group(servers('node', 1), name='cache')])
    rest = whole.only({'web-1', 'db/node-0', 'db/node-2'})
    assert [m.path for m in rest.all_members()] == [
        'web-1', 'db/node-0', 'db/node-2']
    assert [m.description for m in rest.all_members()] == [
        'web', 'db/node', 'db/node']
    assert [nested.name for nested in rest.groups] == ['db']
    assert [m.path for m in rest.only({'web-0', 'web-1'}).all_members()] == [
        'web-1']
