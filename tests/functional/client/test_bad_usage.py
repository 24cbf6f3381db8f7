# SPDX-License-Identifier: Apache-2.0
"""Each error of a user is reported in one line, with an exit code other than
0.
"""

import re

import pytest

from nova_holistic.client.client import Client
from nova_holistic.client.errors import Refused
from tests.functional.engine.world import shop
from tests.unit.api.service import READER


@pytest.mark.parametrize('noun, verb', [
    ('group', 'create'), ('group', 'set'), ('plan', 'create')])
def test_invalid_definitions_are_reported(refused, written, tmp_path, noun,
                                          verb):
    group = ['shop'] if verb == 'set' else []
    missing = tmp_path / 'none.yaml'
    assert refused(noun, verb, *group, '-f', missing) == (
        f'{missing}: No such file or directory')
    document = shop()['group']
    document['groups'][0]['policies'][0]['levl'] = 'rack'
    wrong = written(document)
    line = refused(noun, verb, *group, '-f', wrong)
    assert line.startswith(
        f'{wrong}: groups[0].policies[0].levl: unknown key')
    wrong.write_text('members: [')
    assert refused(noun, verb, *group, '-f', wrong).startswith(f'{wrong}: ')
    assert refused(noun, verb, *group) == 'a definition is missing: -f <file>'


@pytest.mark.parametrize('words', [
    ('group', 'show'), ('group', 'delete'), ('group', 'release'),
    ('group', 'replan'), ('member', 'list')])
def test_an_unknown_group_is_refused(refused, words):
    assert refused(*words, 'nobody') == 'there is no group nobody'


def test_a_forbidden_action_is_reported(refused, failed, written):
    assert failed('group', 'create', '-f', written(), user=READER) == (
        'policy does not allow holistic:groups:create')
    assert refused('plan', 'show', 'nothing') == 'there is no plan nothing'


def test_a_wait_reports_a_timeout(terminal, failed, world, service,
                                  written):
    # No engine begins the task.
    service.app._service.engines.plan_group = lambda *_: None
    line = failed('group', 'create', '-f', written(), '--wait', '--timeout', 1)
    assert re.fullmatch('group [0-9a-f-]{36} is not finished within 1 s; '
                        'planning continues, show it again later', line)


def test_a_create_without_an_answer_can_be_repeated(
        terminal, failed, read, written, monkeypatch):
    """The request was carried out, and only the response is lost."""
    ask = Client.request

    def lost(*args, **kwargs):
        ask(*args, **kwargs)
        raise Refused(504, '', 'Gateway Timeout')

    with monkeypatch.context() as patched:
        patched.setattr(Client, 'request', lost)
        line = failed('group', 'create', '-f', written())
    assert line.startswith('Gateway Timeout; the group may exist')
    key = re.search('--idempotency-key ([0-9a-f-]{36}) ', line)[1]
    output = terminal.openstack('holistic', 'group', 'create', '-f', written(),
                                '--idempotency-key', key)
    assert output.code == 0
    assert len(read('group', 'list')) == 1


def test_a_create_that_was_not_sent_names_no_group(terminal, written):
    output = terminal.openstack('--os-region-name', 'elsewhere', 'holistic',
                                'group', 'create', '-f', written())
    assert (output.code, output.err) == (
        1, 'public endpoint for holistic service in elsewhere region not '
        'found\n')


@pytest.mark.parametrize('key', ['', 'Schlüssel', 'x\ny'])
def test_an_invalid_idempotency_key_creates_no_group(
        refused, read, written, key):
    """An empty key may be a variable of a script that is not set."""
    assert refused('group', 'create', '-f', written(), '--idempotency-key',
                   key) == (
        'Idempotency-Key must be 1 to 255 printable ASCII characters')
    assert read('group', 'list') == []


def test_a_usage_error_names_its_argument(terminal, written):
    for words in (('group', 'extend', 'shop', 'long'),
                  ('member', 'add', 'shop', 'x', '--resource', 'VCPU'),
                  ('member', 'add', 'shop', 'x', '--description', '['),
                  ('group', 'create', '-f', written(), '--timeout', '0')):
        output = terminal.openstack('holistic', *words)
        assert output.code == 2
        assert 'Traceback' not in output.err
        assert 'error: argument ' in output.err.splitlines()[-1]


@pytest.mark.parametrize('words, message', [
    (('group', 'event', 'list', 'shop', '--limit', '9' * 19),
     'not a whole number of at most 18 digits'),
    (('group', 'event', 'list', 'shop', '--marker', '9' * 5000),
     'not a whole number of at most 18 digits'),
    (('group', 'replan', 'shop', '--timeout', '1000000'),
     'not a whole number of seconds from 1 to 999999'),
    *((('member', 'add', 'shop', 'new', '--description', text), message)
      for text, message in (
          ('{"flavor": "small", "flavor": "large"}', 'duplicate key'),
          ('[' * 100_000, 'maximum recursion depth exceeded'),
          ('{"resources": {"VCPU": NaN}}', 'NaN is not a number of JSON'),
          ('[]', 'not a JSON object')))])
def test_an_argument_that_cannot_be_read_is_a_usage_error(
        terminal, words, message):
    output = terminal.openstack('holistic', *words)
    assert (output.code, output.out) == (2, '')
    assert message in output.err.splitlines()[-1]


@pytest.mark.parametrize('words, message', [
    (('member', 'add', 'shop', 'new', '--resource', 'VCPU=' + '9' * 5000),
     'members[0].resources.VCPU: must be a whole number'),
    (('member', 'remove', 'shop', ''), "member '' does not exist"),
    (('member', 'remove', 'shop', 'db//node-0'), 'does not exist'),
    (('member', 'remove', 'shop', '..'), 'cannot be named in a URL')])
def test_an_argument_that_the_group_cannot_have_is_refused(
        refused, read, written, words, message):
    read('group', 'create', '--file', written(), '--wait')
    assert message in refused(*words)


def test_an_unknown_microversion_is_reported(terminal):
    output = terminal.openstack('--os-holistic-api-version', '1.8', 'holistic',
                                'group', 'list')
    assert (output.code, output.err) == (
        1, 'version 1.8 is not supported; supported are 1.0 to 1.7\n')
