# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a picture is valid, self-contained and safe."""

from html.parser import HTMLParser
from xml.etree import ElementTree

from nova_holistic.picture import html
from nova_holistic.picture.scene import scene
from tests.unit.builders import cloud, host, two_racks
from tests.unit.picture.builders import Drawing, plan

_VOID = {'meta'}


class Strict(HTMLParser):
    """Finds elements that XML closes and HTML would leave open."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.svg = 0

    def handle_starttag(self, tag, attrs):
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        # The short form closes an element in SVG, and void elements in HTML.
        assert 'svg' in self.open or tag in _VOID

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page(snapshot, placements, **fields):
    return html.to_bytes(scene(
        snapshot, plan(snapshot, placements, **fields))).decode()


def test_the_page_is_well_formed_as_html_and_as_xml():
    text = page(two_racks(), {'web/a': 'r1h1'})
    parser = Strict()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    assert ElementTree.fromstring(text).tag == 'html'
    assert text.startswith('<!DOCTYPE html>')


def test_the_page_contains_the_whole_picture():
    drawing = Drawing(page(two_racks(), {'web/a': 'r1h1'}))
    assert len(drawing.all('host')) == 4
    assert drawing.root.find('head/title').text == 'shop'


def test_the_page_loads_no_external_resources():
    text = page(two_racks(), {})
    assert text.count('http') == 1
    assert 'xmlns="http://www.w3.org/2000/svg"' in text


def test_script_and_style_are_not_changed_by_escaping():
    root = ElementTree.fromstring(page(two_racks(), {}))
    for element in root.iter():
        if element.tag.endswith(('script', 'style')):
            assert not set('<>&') & set(element.text)


def test_names_cannot_break_out_of_the_page():
    name = '</title></svg><script>alert(1)</script>'
    text = page(cloud(host(name, 'r1')), {'a': name}, name=name)
    assert text.count('<script>') == 1
    assert Drawing(text).root.find('head/title').text == name
