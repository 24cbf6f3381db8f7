# SPDX-License-Identifier: Apache-2.0
"""The file that lists the children of a parent."""

import pytest

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.federation import children_file
from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.facts.facts import Facts
from nova_holistic.topology.errors import InvalidFile
from nova_holistic.topology.option_file import UnreadableFile

COMPLETE = """
children:
- name: dfw
  region: Dallas
- name: ams
  endpoint: https://ams.example.org:8787
  keystone: https://ams.example.org/identity/v3
  ca_file: /etc/nova-holistic/ams.pem
  cost: 1.5
  facts:
    zones: [az1]
    traits: [HW_CPU_X86_AVX2]
    aggregates: [hipaa]
    largest: {VCPU: 64}
    flavors: {m1.small: {VCPU: 1}}
    share_in_use: 0.5
"""


@pytest.fixture
def file(tmp_path):
    """A function that writes the file, and returns its path."""
    def write(text):
        path = tmp_path / 'children.yaml'
        path.write_text(text)
        return str(path)
    return write


def test_the_children_are_read_in_their_order(file):
    dfw, ams = children_file.read(file(COMPLETE))
    assert dfw == ChildEntry('dfw', region='Dallas')
    assert ams == ChildEntry(
        'ams', endpoint='https://ams.example.org:8787',
        keystone='https://ams.example.org/identity/v3',
        ca_file='/etc/nova-holistic/ams.pem', cost=1.5,
        facts=Facts(
            zones=frozenset({'az1'}), traits=frozenset({'HW_CPU_X86_AVX2'}),
            aggregates=frozenset({'hipaa'}), largest={'VCPU': 64},
            flavors={'m1.small': {'VCPU': 1}}, share_in_use=0.5))


@pytest.mark.parametrize('text, place, message', [
    ('[]', '', 'a mapping'), ('{}', '', 'children is missing'),
    ('children: []', 'children', 'a list of 1 to 1000 children'),
    ('children: [{name: dfw}]', 'children[0]',
     'at least one of endpoint, region and keystone'),
    ('children: [{name: a/b, region: r}]', 'children[0].name', '1 to 64'),
    ('children: [{name: a, endpoint: "ftp://x"}]', 'children[0].endpoint',
     'http or https'),
    ('children: [{name: a, region: r}, {name: a, region: s}]',
     'children[1].name', 'also the name of children[0]'),
    ('children: [{name: a, region: r, cost: -1}]', 'children[0].cost',
     'from 0'),
    ('children: [{name: a, region: r, regoin: r}]', 'children[0].regoin',
     "did you mean 'region'"),
    ('children: [{name: a, region: r, facts: {traits: [avx]}}]',
     'children[0].facts.traits[0]', 'the name of a trait'),
])
def test_a_mistake_is_reported_with_file_and_position(
        file, text, place, message):
    path = file(text)
    with pytest.raises(InvalidFile) as caught:
        children_file.read(path)
    mistakes = [str(each) for each in caught.value.mistakes]
    start = f'{path}: {place}: ' if place else f'{path}: '
    assert [each for each in mistakes
            if each.startswith(start) and message in each], mistakes


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UnreadableFile, match='children.*nowhere.yaml'):
        children_file.read(str(tmp_path / 'nowhere.yaml'))


def test_the_order_names_only_known_children(file):
    children = children_file.read(file(COMPLETE))
    children_file.check_order(['ams', 'dfw'], children)
    with pytest.raises(InvalidDocument, match='no child lon'):
        children_file.check_order(['ams', 'lon'], children)
