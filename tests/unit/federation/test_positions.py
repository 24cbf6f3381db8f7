# SPDX-License-Identifier: Apache-2.0
"""The reasons of clouds name positions in the document of the user."""

import pytest

from nova_holistic.federation.child import Refusal, RefusalKind
from nova_holistic.federation.http import answers
from nova_holistic.federation.offers.positions import in_parent
from nova_holistic.federation.offers.problem import Problem
from nova_holistic.federation.results import Candidate
from tests.unit.federation.clouds import Federation, member, small, TYPES

RACK = {'type': 'affinity', 'level': 'rack'}
DOCUMENT = {
    'name': 'shop', 'policies': [{'type': 'location', 'path': 'ams'}, RACK],
    'members': [member('x')], 'groups': [
        {'name': 'shard', 'count': 2, 'members': [member('node', count=2)]},
        {'name': 'web', 'members': [member('a'), member('b'), member('c')],
         'relationships': [
             {'type': 'affinity', 'level': 'rack', 'between': ['a', 'b']},
             {'type': 'affinity', 'level': 'rack', 'between': ['b', 'c']}]}]}


class Named:
    def __init__(self, name):
        self.name = name


def position(paths, text):
    """Return the position in the user's document of one in the document for
    the members with these paths."""
    problem = Problem.of(DOCUMENT, [Candidate(Named('ams'))], TYPES)
    return in_parent(problem, 'ams', problem.documents.document(paths, 'ams'),
                     text)


@pytest.mark.parametrize('paths, text, found', [
    (['x'], 'policies[0].level', 'policies[1].level'),
    (['web/b', 'web/c'], 'groups[0].members[1].flavor',
     'groups[1].members[2].flavor'),
    (['web/b', 'web/c'], 'groups[0].relationships[0]',
     'groups[1].relationships[1]'),
    (['shard-1/node-0', 'shard-1/node-1'], 'groups[0].members[0].location',
     'groups[0].members[0].location'),
    # No positions in the document of the child.
    (['x'], 'policies[7]', 'policies[7]'), (['x'], 'x', 'x'),
    (['web/b'], 'groups[0].members[1]', 'groups[0].members[1]'),
    (['x'], '', '')])
def test_a_position_in_the_document_of_a_cloud(paths, text, found):
    assert position(paths, text) == found


def test_the_reasons_of_a_refused_offer():
    """A cloud names the policy and, in a message, the member."""
    federation = Federation(ams=small('a1'))
    federation.children['ams'].offer = lambda *words: Refusal(
        'ams', RefusalKind.INVALID, (
            answers.reason('ams', 'policies[0].level', 'unknown level'),
            answers.reason('ams', '', 'members[0].flavor: it is unknown')))
    found = federation.place({
        'name': 'shop', 'policies': [
            {'type': 'location', 'path': 'ams'}, RACK],
        'members': [member('x')]})
    assert [(each.at, each.message) for each in found.reasons] == [
        ('policies[1].level', 'cloud ams: unknown level'),
        ('', 'cloud ams: members[0].flavor: it is unknown')]


def test_the_reasons_of_a_refused_part():
    """The cloud dfw refuses the part that it has offered to take: the second
    member of the document."""
    federation = Federation(ams=small('a1'), dfw=small('b1'))
    federation.children['dfw'].create = lambda *words: Refusal(
        'dfw', RefusalKind.INVALID, (
            answers.reason('dfw', '', 'members[0].flavor: it is unknown'),))
    found = federation.place({'name': 'shop', 'members': [
        member('x', location='ams'), member('y', location='dfw')]})
    assert [each.message for each in found.reasons] == [
        'cloud dfw: members[1].flavor: it is unknown']
