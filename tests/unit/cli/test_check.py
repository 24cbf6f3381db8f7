# SPDX-License-Identifier: Apache-2.0
"""The command check, on changed plans of the command plan."""

import json

import pytest


@pytest.fixture
def changed(terminal, shop_plan):
    """Change the valid plan; returns the file of the changed plan."""
    def change(alter):
        document = json.loads(shop_plan.read_text())
        alter(document, {p['member']: p for p in document['placements']})
        return terminal.file('changed.json', json.dumps(document))
    return change


def check(terminal, shop, zones, plan):
    return terminal.run('check', shop, '--inventory', zones, '--plan', plan)


def test_check_accepts_the_output_of_plan(terminal, shop, zones, shop_plan):
    assert check(terminal, shop, zones, shop_plan) == 0
    assert terminal.out == (
        'valid: 12 members placed, no policy is violated\n')
    assert terminal.err == ''


def test_two_databases_in_one_rack_violate_their_policy(
        terminal, shop, zones, changed):
    def together(document, at):
        at['db/node-1'].update({key: at['db/node-0'][key]
                                for key in ('host', 'node', 'location')})

    assert check(terminal, shop, zones, changed(together)) == 1
    assert [line for line in terminal.out.splitlines()
            if line.startswith('db: anti-affinity: ')]


def test_every_violation_has_a_separate_line(terminal, shop, zones, changed):
    def spoil(document, at):
        document['placements'].remove(at['web/server-0'])
        at['web/server-1'].update(host='nowhere', location=[])
        at['db/node-0']['location'] = ['az9', 'rack1']

    plan = changed(spoil)
    home = json.loads(plan.read_text())
    host = next(p['host'] for p in home['placements']
                if p['member'] == 'db/node-0')
    assert check(terminal, shop, zones, plan) == 1
    lines = terminal.out.splitlines()
    assert len(lines) == 3
    assert any('db/node-0' in line and host in line and 'az9/rack1' in line
               for line in lines)
    assert any(line.startswith('web/server-0: ') for line in lines)
    assert any(line.startswith('web/server-1: ') and 'nowhere' in line
               for line in lines)


def test_a_plan_of_another_group_is_refused(terminal, shop, zones, changed):
    plan = changed(lambda document, at: document.update(group='bakery'))
    assert check(terminal, shop, zones, plan) == 1
    assert terminal.out == "the plan belongs to group 'bakery', not 'shop'\n"


def test_a_node_of_another_host_is_a_violation(
        terminal, shop, zones, changed):
    def rename(document, at):
        at['web/server-0']['node'] = 'other'

    plan = changed(rename)
    host = json.loads(plan.read_text())['placements'][0]['host']
    assert check(terminal, shop, zones, plan) == 1
    assert terminal.out == (
        f'web/server-0: host {host} has node {host}, not other\n')


def test_nodes_may_be_left_out_of_a_plan(terminal, shop, zones, changed):
    def forget(document, at):
        for placement in document['placements']:
            del placement['node']

    assert check(terminal, shop, zones, changed(forget)) == 0


def test_locations_may_be_left_out_of_a_plan(terminal, shop, zones, changed):
    def forget(document, at):
        for placement in at.values():
            del placement['location']

    assert check(terminal, shop, zones, changed(forget)) == 0


def test_an_answer_without_placements_cannot_be_checked(
        terminal, shop, zones):
    answer = terminal.file('no.json', json.dumps(
        {'status': 'unplaceable', 'reasons': [{'at': '', 'message': 'no'}]}))
    assert check(terminal, shop, zones, answer) == 2
    assert terminal.out == ''
    assert terminal.err == (
        f'nova-holistic: {answer}: status: the group was not planned, so '
        'the file has no placements\n')


def test_a_member_placed_twice_is_bad_input(terminal, shop, zones, changed):
    def repeat(document, at):
        document['placements'].append(at['db/node-0'])

    plan = changed(repeat)
    assert check(terminal, shop, zones, plan) == 2
    assert terminal.err.startswith(
        f'nova-holistic: {plan}: placements[12].member: ')
