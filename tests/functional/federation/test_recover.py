# SPDX-License-Identifier: Apache-2.0
"""A parent has lost its table: an operator recovers its groups with the
commands of the manual."""

import json
import re
import shlex

import pytest

from nova_holistic.cli import manage
from tests.functional.federation.test_federation import (
    held, pointed, SPLIT, WHOLE)
from tests.functional.federation.test_manual import PAGE
from tests.functional.federation.world import until

COMMANDS = [shlex.split(line) for line in re.findall(
    r'^   \$ nova-holistic-manage (federation recover .*)$',
    PAGE.read_text(), re.MULTILINE)]
"""The words of the page's commands: a dry run, and the recovery."""


@pytest.fixture
def recover(clouds, tmp_path, capsys):
    """A function that runs a command of the page for the parent in a folder.
    Returns its exit code, the outcomes and its error output."""
    for cloud in clouds.values():
        cloud.delete_groups()
    credentials = tmp_path / 'recover.yaml'
    credentials.write_text(json.dumps({'credentials': {
        name: {'auth_type': 'admin_token', 'auth': {
            'endpoint': cloud.url, 'token': 'admin:staff'}}
        for name, cloud in clouds.items()}}))

    def recover(folder, words):
        config = tmp_path / 'manage.conf'
        config.write_text(
            f'[holistic_database]\nconnection = sqlite:///'
            f'{tmp_path}/{folder}/table.sqlite\n[federation]\n'
            f'children = {tmp_path}/{folder}/children.json\n')
        at = words.index('--credentials') + 1
        code = manage.main([
            '--config-file', str(config), *words[:at], str(credentials),
            *words[at + 1:], '--format', 'json'])
        out, err = capsys.readouterr()
        return code, json.loads(out or '[]'), err

    return recover


def test_a_parent_with_an_empty_table_gets_its_groups_back(
        clouds, start_parent, recover):
    first = start_parent('first')
    groups = {document['name']: first.create(document)['id']
              for document in (WHOLE, SPLIT)}
    before = {name: first.members(group) for name, group in groups.items()}
    first.process.stop()

    parent = start_parent('second')
    assert parent.ask('GET', '/groups').json()['groups'] == []
    dry_run, recovery = COMMANDS
    for words, result in ((dry_run, 'recovered'), (recovery, 'recovered'),
                          (recovery, 'known')):
        code, outcomes, err = recover('second', words)
        assert (code, {each['group']: each['result'] for each in outcomes}
                ) == (0, dict.fromkeys(groups.values(), result)), err
        assert bool(parent.ask('GET', '/groups').json()['groups']) == (
            words is recovery)

    assert {name: parent.members(group)
            for name, group in groups.items()} == before
    assert all(parent.get(group)['status'] == 'planned'
               for group in groups.values())

    # The group can be used as before: a server is created, a member is
    # released, and the group is deleted.
    one = before['pair']['node-0']
    server, _ = clouds[one['cloud']].create_server(one['pointer'])
    shown = parent.members(groups['pair'])
    assert shown['node-0']['instance_uuid'] == server
    assert parent.ask('POST', f'/groups/{groups["pair"]}/release', {
        'release': {}}).json() == {'released': ['node-1'], 'kept': ['node-0']}
    assert until(lambda: held(clouds), lambda found: found == pointed(
        before['shop'])) == pointed(before['shop'])
    for group in groups.values():
        parent.delete(group)
    assert all(cloud.report()['groups'] == [] for cloud in clouds.values())
    clouds[one['cloud']].delete_servers()


def test_a_child_that_does_not_answer_ends_the_recovery(
        clouds, proxies, start_parent, recover):
    parent = start_parent('first')
    group = parent.create(SPLIT)['id']
    proxies['lon'].stop()
    start_parent('second', children={
        **{name: cloud.url for name, cloud in clouds.items()},
        'lon': proxies['lon'].url})
    code, outcomes, err = recover('second', COMMANDS[1])
    assert (code, outcomes) == (1, [])
    assert 'cloud lon: the cloud does not answer' in err
    parent.delete(group)
