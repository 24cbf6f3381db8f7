# SPDX-License-Identifier: Apache-2.0
"""A picture as SVG, for clouds from an empty one to 1000 hosts."""

from xml.etree import ElementTree

from nova_holistic.model.cloud.inventory import Inventory
from nova_holistic.model.plan import ObjectiveValue, Preference
from nova_holistic.picture.palette import paints
from nova_holistic.picture.scene import scene
from nova_holistic.picture import svg
import pytest
from tests.unit.builders import cloud, group, host, servers, two_racks
from tests.unit.picture.builders import Drawing, plan


def draw(snapshot, placements, drawn_group=None, **fields):
    return Drawing(svg.to_bytes(scene(
        snapshot, plan(snapshot, placements, **fields), drawn_group)))


def many(number, **fields):
    """A cloud with this number of hosts, ten per rack and ten racks per
    zone."""
    return cloud(*(host(f'cmp-{n:04}', f'az{n // 100}', f'rack{n // 10}',
                        **fields) for n in range(number)),
                 levels=('az', 'rack', 'host'))


def test_every_host_and_domain_has_one_box():
    drawing = draw(many(40), {})
    assert len(drawing.all('host')) == 40
    assert len(drawing.all('domain')) == 1 + 4


@pytest.mark.parametrize('hosts', [12, 120, 1000])
def test_every_host_is_drawn_in_a_cloud_of_any_size(hosts):
    drawing = draw(many(hosts), {'web/a': 'cmp-0000', 'db/b': 'cmp-0011'})
    assert len(drawing.all('host')) == hosts
    assert len(drawing.all('idle')) == hosts - 2
    assert len(drawing.all('member')) == 2


def test_a_small_cloud_shows_every_name():
    drawing = draw(two_racks(), {'web/a': 'r1h1', 'web/b': 'r2h2'})
    assert drawing.texts('name') == ['r1h1', 'r1h2', 'r2h1', 'r2h2']
    assert drawing.host('r1h1').texts('label') == ['web/a']
    assert drawing.host('r2h2').texts('label') == ['web/b']
    assert drawing.host('r1h2').texts('label') == []


def test_a_large_cloud_shows_counts_and_names_as_tooltips():
    drawing = draw(many(1000), {
        'web/a': 'cmp-0500', 'web/b': 'cmp-0500', 'db/c': 'cmp-0500'})
    assert drawing.texts('name') == []
    cell = drawing.host('cmp-0500')
    assert cell.texts('label') == ['1', '2']
    assert cell.words('host')[0].split('\n') == [
        'az5/rack50/cmp-0500', 'vCPU: 0 / 16 (0%)', 'web/a', 'web/b', 'db/c']


def test_members_have_the_colour_of_their_group_as_in_the_legend():
    drawing = draw(two_racks(), {'web/a': 'r1h1', 'db/b': 'r2h1'})
    colours = paints(['web', 'db'])
    assert drawing.host('r1h1').all('mark')[0].get('fill') == (
        colours['web'].fill)
    assert drawing.host('r2h1').all('mark')[0].get('fill') == (
        colours['db'].fill)
    assert [mark.get('fill') for entry in drawing.all('legend')
            for mark in entry if mark.get('class') == 'mark'] == [
        colours['db'].fill, colours['web'].fill]
    assert [entry[-1].text for entry in drawing.all('legend')] == [
        'db  1', 'web  1']


def test_the_legend_names_the_top_level_group():
    drawing = draw(two_racks(), {'a': 'r1h1'})
    assert drawing.all('legend')[0][-1].text == 'shop  1'


def test_the_load_of_a_host_is_drawn_to_scale():
    snapshot = cloud(host('h1', 'r1', inventories={
        'VCPU': Inventory(total=10, used=2)}))
    drawing = draw(snapshot, {'s': 'h1'}, group(servers('s', vcpus=5)))
    bars = drawing.host('h1')
    track, before, planned = (
        float(bars.all(kind)[0].get('width'))
        for kind in ('track', 'before', 'planned'))
    assert before / track == pytest.approx(0.2, abs=0.01)
    assert planned / track == pytest.approx(0.5, abs=0.01)
    assert '7 / 10' in bars.texts('muted')


def test_an_over_committed_host_is_marked():
    snapshot = cloud(host('h1', 'r1', inventories={
        'VCPU': Inventory(total=10, used=12)}), host('h2', 'r1'))
    drawing = draw(snapshot, {})
    assert len(drawing.host('h1').all('over')) == 1
    assert drawing.host('h2').all('over') == []


def test_disabled_hosts_are_hatched_and_in_the_legend():
    snapshot = cloud(host('h1', 'r1', enabled=False), host('h2', 'r1'))
    drawing = draw(snapshot, {})
    assert len(drawing.host('h1').all('hatched')) == 1
    assert drawing.host('h2').all('hatched') == []
    assert 'disabled' in [e.text for e in drawing.all('load-key')[0]]


def test_the_legend_lists_only_what_is_drawn():
    drawing = draw(two_racks(), {})
    said = [e.text for e in drawing.all('load-key')[0] if e.text]
    assert said == ['used before', 'free']


def test_the_heading_has_group_totals_objective_and_preferences():
    drawing = draw(two_racks(), {'a': 'r1h1', 'b': 'r1h1'}, preferences=(
        Preference('affinity', '', 0), Preference('anti-affinity', '', 3)))
    assert drawing.texts('heading') == ['shop']
    assert drawing.texts('muted')[0] == (
        '2 members on 1 of 4 hosts · objective spread 2.5 '
        '(bound 2, gap 20.0%) · 1 of 2 preferences met')


def test_names_cannot_break_out_of_the_text():
    name = '</text><script>&"\'x'
    drawing = draw(cloud(host('h<1>&', 'r"1')), {'a': 'h<1>&'}, name=name)
    assert drawing.texts('heading') == [name]
    assert drawing.texts('name') == ['h<1>&']
    assert not [e for e in drawing.root.iter() if e.tag.endswith('script')]


def test_characters_invalid_in_xml_are_replaced():
    drawing = draw(two_racks(), {'a': 'r1h1'}, name='a\x00b\x1b\ud800')
    assert drawing.texts('heading') == ['a\ufffdb\ufffd\ufffd']


def test_a_host_shows_the_number_of_hidden_members():
    drawing = draw(two_racks(), {f's-{n}': 'r1h1' for n in range(30)})
    card = drawing.host('r1h1')
    assert len(card.all('member')) == 12
    assert 'and 18 more' in card.texts('muted')


def test_an_empty_inventory_gives_an_empty_picture():
    drawing = draw(cloud(), {})
    assert drawing.all('host') == []
    assert float(drawing.root.get('height')) > 0


def test_the_picture_loads_no_external_resources():
    snapshot = two_racks()
    text = svg.to_bytes(scene(snapshot, plan(snapshot, {}))).decode()
    assert text.count('http') == 1
    assert 'xmlns="http://www.w3.org/2000/svg"' in text


def boxes(element, x=0.0, y=0.0):
    """Absolute rectangles of domains and hosts, each with those inside it."""
    move = element.get('transform', '')
    if move.startswith('translate('):
        right, down = move.removeprefix('translate(').rstrip(')').split()
        x, y = x + float(right), y + float(down)
    inside = [found for child in element for found in boxes(child, x, y)]
    if element.get('class', '').split()[:1] not in (['domain'], ['host']):
        return inside
    frame = next(e for e in element if e.tag.endswith('rect'))
    corner = (x + float(frame.get('width')), y + float(frame.get('height')))
    return [((x, y), corner, inside)]


def check_nesting(found):
    for (start, end, inside) in found:
        for (inner_start, inner_end, _) in inside:
            assert inner_start[0] >= start[0] and inner_start[1] >= start[1]
            assert inner_end[0] <= end[0] + 0.2
            assert inner_end[1] <= end[1] + 0.2
        check_nesting(inside)


@pytest.mark.parametrize('hosts', [30, 130, 500])
def test_hosts_are_inside_racks_and_racks_inside_zones(hosts):
    drawing = draw(many(hosts), {f's-{n}': f'cmp-{n % 7:04}'
                                 for n in range(40)})
    found = boxes(drawing.all('topology')[0])
    assert len(found) == len({n // 100 for n in range(hosts)})
    check_nesting(found)


def test_svg_is_utf_8_with_a_declaration():
    snapshot = two_racks()
    content = svg.to_bytes(scene(snapshot, plan(snapshot, {}, name='bücher')))
    assert content.startswith(b"<?xml version='1.0' encoding='utf-8'?>")
    assert 'bücher'.encode() in content
    assert ElementTree.fromstring(content).tag.endswith('svg')


def test_no_text_of_the_legend_is_shortened_if_it_fits():
    path = 'a-group-with-a-long-name/and-one-more-group-below-it/the-last'
    drawing = draw(two_racks(), {f'{path}/a': 'r1h1', 'b': 'r1h2'},
                   preferences=(Preference('affinity', '', 1),) * 1000,
                   objective=ObjectiveValue(
                       'fewest-hosts', 12345.6, 11111.2, 0.0999))
    assert [entry[-1].text for entry in drawing.all('legend')] == [
        'shop  1', f'{path}  1']
    said = drawing.all('enlarged')[0]
    assert not [e.text for e in said.iter() if '…' in (e.text or '')]
    assert ' · '.join(e.text for e in said if e.get('class') == 'muted') == (
        '2 members on 2 of 4 hosts · objective fewest-hosts 12346 '
        '(bound 11111, gap 10.0%) · 0 of 1000 preferences met')


def test_counts_of_one_are_singular():
    drawing = draw(cloud(host('h1', 'r1'), host('h2', 'r2'),
                         host('h3', 'r2')), {'a': 'h1'})
    assert [words.split('\n')[1] for words in drawing.words('domain')] == [
        '1 member on 1 host', '0 members on 2 hosts']
