# SPDX-License-Identifier: Apache-2.0
"""The shop with all its policies and relationships, on two zones."""

import json

import pytest


@pytest.fixture
def smaller_shop(terminal, whole_shop):
    """The shop with only three web servers, one for the second host of each
    rack."""
    return terminal.file('smaller.yaml', whole_shop.read_text().replace(
        'name: server, count: 6', 'name: server, count: 3'))


def test_the_whole_shop_needs_more_hosts_than_a_zone_has(
        terminal, whole_shop, zones):
    # Six web servers on six hosts leave no host of the zone to the databases.
    assert terminal.run('plan', whole_shop, '--inventory', zones,
                        '--format', 'json') == 1
    reasons = json.loads(terminal.out)['reasons']
    assert reasons == [
        {'at': '', 'message': 'anti-affinity host between db and web needs 7 '
                              'hosts; az1 has 6'},
        {'at': 'web', 'message': 'anti-affinity host needs 6 hosts'},
        {'at': '', 'message': 'affinity az puts all 12 members into one az'}]


def test_a_smaller_shop_is_planned_and_its_plan_is_good(
        terminal, smaller_shop, zones):
    assert terminal.run('plan', smaller_shop, '--inventory', zones,
                        '--objective', 'network', '--format', 'json') == 0
    plan = json.loads(terminal.out)
    where = {p['member']: p['host'][2:] for p in plan['placements']}
    assert sorted(h for m, h in where.items() if 'db' in m) == [
        'r1h1', 'r2h1', 'r3h1']
    assert sorted(h for m, h in where.items() if 'web' in m) == [
        'r1h2', 'r2h2', 'r3h2']
    # Three of the nine pairs of web and db share a rack, and none shares a
    # host: 200 Mbit/s x (3 x 2 uplinks + 6 x 4).
    assert plan['objective'] == {
        'name': 'network', 'value': 6000, 'bound': 6000, 'gap': 0}
    preferences = {p['policy']: p['violations'] for p in plan['preferences']}
    assert preferences['bandwidth between web and db'] == 1200
    assert preferences['affinity between web and cache'] == 2
    good = terminal.file('plan.json', terminal.out)
    assert terminal.run('check', smaller_shop, '--inventory', zones,
                        '--plan', good) == 0


def test_check_names_the_sides_of_a_violated_relationship(
        terminal, smaller_shop, zones):
    assert terminal.run('plan', smaller_shop, '--inventory', zones,
                        '--format', 'json') == 0
    plan = json.loads(terminal.out)
    where = {p['member']: p for p in plan['placements']}
    host_of_database = where['db/node-0']['host']
    where['web/server-0']['host'] = host_of_database
    bad = terminal.file('bad.json', json.dumps(plan))
    assert terminal.run('check', smaller_shop, '--inventory', zones,
                        '--plan', bad) == 1
    assert 'anti-affinity between db and web' in terminal.out
    assert 'db/node-0 together with web/server-0' in ' '.join(
        terminal.out.split())


def test_the_map_shows_the_shop(terminal, smaller_shop, zones):
    assert terminal.run('plan', smaller_shop, '--inventory', zones,
                        '--format', 'json') == 0
    plan = terminal.file('plan.json', terminal.out)
    assert terminal.run('map', plan, '--inventory', zones,
                        '-o', 'shop.svg') == 0
    assert 'cache/node-0' in (terminal.folder / 'shop.svg').read_text()
