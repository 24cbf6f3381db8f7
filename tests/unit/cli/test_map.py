# SPDX-License-Identifier: Apache-2.0
"""The command map, on plans of the command plan."""

import json

from tests.unit.picture.builders import Drawing


def draw(terminal, zones, plan, output, *more):
    return terminal.run('map', plan, '--inventory', zones, '-o', output,
                        *more)


def test_the_map_shows_every_host_and_member(terminal, zones, shop_plan):
    assert draw(terminal, zones, shop_plan, 'shop.svg') == 0
    assert (terminal.out, terminal.err) == ('', '')
    drawing = Drawing((terminal.folder / 'shop.svg').read_bytes())
    assert len(drawing.all('host')) == 12
    assert len(drawing.all('domain')) == 2 + 6
    assert len(drawing.all('member')) == 12
    assert drawing.texts('heading') == ['shop']
    for placement in json.loads(shop_plan.read_text())['placements']:
        assert placement['member'] in drawing.host(
            placement['host']).texts('label')


def test_the_map_shows_the_added_load_if_given_the_group(
        terminal, zones, shop, shop_plan):
    draw(terminal, zones, shop_plan, 'without.svg')
    draw(terminal, zones, shop_plan, 'with.svg', '--group', shop)
    without, complete = (
        Drawing((terminal.folder / name).read_bytes())
        for name in ('without.svg', 'with.svg'))
    assert without.all('planned') == []
    assert complete.all('planned') != []
    assert 'added by this plan' in [
        e.text for e in complete.all('load-key')[0]]


def test_the_suffix_chooses_the_format(terminal, zones, shop_plan):
    for name, start in (('a.svg', b'<?xml'), ('a.html', b'<!DOCTYPE html>'),
                        ('a.PNG', b'\x89PNG\r\n\x1a\n')):
        assert draw(terminal, zones, shop_plan, name) == 0
        assert (terminal.folder / name).read_bytes().startswith(start)


def test_an_unknown_suffix_is_refused(terminal, zones, shop_plan):
    assert draw(terminal, zones, shop_plan, 'shop.gif') == 2
    assert terminal.err == (
        'nova-holistic: shop.gif: the name must end in one of .svg, '
        '.html, .png\n')
    assert not (terminal.folder / 'shop.gif').exists()


def test_an_unwritable_file_is_reported(terminal, zones, shop_plan):
    assert draw(terminal, zones, shop_plan, 'gone/shop.svg') == 2
    assert terminal.err == (
        'nova-holistic: gone/shop.svg: No such file or directory\n')
    (terminal.folder / 'folder.svg').mkdir()
    assert draw(terminal, zones, shop_plan, 'folder.svg') == 2
    assert terminal.err == 'nova-holistic: folder.svg: Is a directory\n'


def test_a_plan_for_another_cloud_is_refused(terminal, zones, shop_plan):
    inventory = terminal.file('other.yaml', '''
        levels: [rack, host]
        hosts: [{name: h1, location: [r1], resources: {VCPU: {total: 4}}}]
        ''')
    assert draw(terminal, inventory, shop_plan, 'shop.svg') == 2
    assert terminal.err.startswith(
        f'nova-holistic: {shop_plan}: placements[0].host: ')
    assert terminal.err.count('\n') == 1


def test_an_answer_without_placements_cannot_be_drawn(terminal, zones):
    answer = terminal.file('no.json', json.dumps(
        {'status': 'unplaceable', 'reasons': [{'at': '', 'message': 'no'}]}))
    assert draw(terminal, zones, answer, 'shop.svg') == 2
    assert terminal.err.startswith(f'nova-holistic: {answer}: status: ')


def test_violations_are_marked_and_printed(terminal, zones, shop, shop_plan):
    document = json.loads(shop_plan.read_text())
    nodes = {p['member']: p for p in document['placements']}
    home = nodes['db/node-0']['host']
    nodes['db/node-1'].update(
        host=home, node=home, location=nodes['db/node-0']['location'])
    bad = terminal.file('bad.json', json.dumps(document))
    assert terminal.run('check', shop, '--inventory', zones,
                        '--plan', bad) == 1
    found = terminal.out
    assert draw(terminal, zones, bad, 'bad.svg', '--group', shop) == 1
    assert (terminal.out, terminal.err) == (found, '')
    drawing = Drawing((terminal.folder / 'bad.svg').read_bytes())
    assert len(drawing.host(home).all('violated')) == 1
    assert 'violated: db: anti-affinity: ' in drawing.host(home).words(
        'host')[0]
    legend = ' '.join(drawing.texts('violation'))
    for line in found.splitlines():
        assert f'violated: {line}' in legend


def test_a_good_plan_has_no_violation_marked(terminal, zones, shop,
                                             shop_plan):
    assert draw(terminal, zones, shop_plan, 'good.svg', '--group', shop) == 0
    drawing = Drawing((terminal.folder / 'good.svg').read_bytes())
    assert drawing.all('violated') == drawing.all('violation') == []
