# SPDX-License-Identifier: Apache-2.0
"""Text in which names are marked."""

import copy
import pickle
import textwrap

import pytest

from nova_holistic.model.cloud.domain import Domain
from nova_holistic.model.messages.marked_text import (
    format_message, joined, MarkedText, Messages, policy_message, shortened)
from nova_holistic.model.plan import Reason


def test_a_message_records_the_positions_of_its_names():
    shown = format_message('{} is on host {:name}, not below {:name}', 'web',
                           'a',
                           Domain('rack', ('z', 'r1')))
    assert shown == 'web is on host a, not below z/r1'
    assert shown.names == ('a', 'z/r1')
    assert [shown[start:end] for start, end in shown.hidden] == ['a', 'z/r1']


def test_several_names_and_no_name_can_be_marked():
    assert format_message('in {:name}', ['b', 'a, c']).hidden == ((3, 4),
                                                                  (6, 10))
    assert format_message('in {:name}, not {:name}', None,
                          '') == 'in none, not '
    assert format_message('in {:name}, not {:name}', None, '').hidden == ()


def test_braces_in_names_are_kept():
    assert format_message('{} on {:name}', '{}', '{:name}') == '{} on {:name}'


def test_joined_messages_keep_their_marks():
    inner = format_message('{:name} has {}', 'host', 'web')
    shown = format_message('{}: {}', 3, joined('; ', [inner, 'host', inner]))
    assert shown == '3: host has web; host; host has web'
    assert shown.hidden == ((3, 7), (23, 27))
    assert shown.removeprefix('3: ').hidden == ((0, 4), (20, 24))
    assert shown.removeprefix('4').hidden == shown.hidden


def test_unmarked_text_makes_a_message_partly_marked():
    shown = format_message(
        '{:name} says {}', 'a', policy_message('it is on a'))
    assert (shown.whole, shown.hidden) == (False, ((0, 1),))
    assert policy_message(shown) is shown
    reason = Reason.of('web', shown)
    assert (reason.names, reason.hidden) == (None, ((0, 1),))
    assert (reason.text.whole, reason.text.hidden) == (False, ((0, 1),))


@pytest.mark.parametrize('width', [5, 9, 10, 12, 14, 18, 24, 30, 200])
@pytest.mark.parametrize('names', [
    ('a', 'b c', 'dd-ee'), ('a  a', 'longer-than-all', '東  京')])
def test_a_shortened_message_keeps_the_marks_of_its_names(width, names):
    text = format_message(' {:name}  is {:name} x,  {:name} and more', *names)
    short = shortened(text, width)
    assert short == textwrap.shorten(text, width)
    left = [' '.join(name.split()) for name in names]
    for start, end in short.hidden:
        assert short[start:end] and left.pop(0).startswith(short[start:end])
    assert not left or left[0] not in short


def test_marks_survive_copying_and_pickling():
    shown = format_message('rack {:name}', 'a')
    for same in (copy.deepcopy(shown), pickle.loads(pickle.dumps(shown))):
        assert (same, same.hidden, same.whole) == (shown, ((5, 6),), True)


def test_messages_are_created_when_they_are_first_read():
    made = []

    def make(name):
        made.append(name)
        yield format_message('on {:name}', name)

    messages = Messages(make, 'a')
    assert not made
    assert messages == ('on a',) and ('on a',) == messages
    assert (messages[0].hidden, len(messages)) == (((3, 4),), 1)
    assert hash(messages) == hash(('on a',))
    assert made == ['a']


def test_plain_text_has_no_information_on_names():
    assert Reason.of('web', 'rack a').names is None
    assert Reason.of('web', MarkedText('no rack')).names == ()
    assert type(Reason.of('web',
                          format_message('rack {:name}',
                                         'a')).message) is str
