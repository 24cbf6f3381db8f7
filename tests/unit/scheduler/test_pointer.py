# SPDX-License-Identifier: Apache-2.0
"""Scheduler hints become a pointer, no pointer or an error."""

import pytest

from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.pointer import has_pointer, Pointer

GROUP = '7c6f5e1a-3a5d-4c52-9c0e-0d3f0a3a9f10'


@pytest.mark.parametrize('hints', [None, {}, {'group': [GROUP]}])
def test_other_hints_are_no_pointer(hints):
    assert not has_pointer(hints)
    assert Pointer.from_hints(hints) is None


@pytest.mark.parametrize('hints', [
    {'holistic_group': [GROUP], 'holistic_member': ['db/node-0']},
    {'holistic_group': GROUP, 'holistic_member': 'db/node-0'},
    {'holistic_group': [GROUP.upper()], 'holistic_member': ['db/node-0'],
     'same_host': ['other']},
])
def test_strings_and_lists_of_one_string_make_a_pointer(hints):
    assert Pointer.from_hints(hints) == Pointer(GROUP, 'db/node-0')


@pytest.mark.parametrize('hints, message', [
    ({'holistic_group': [GROUP]}, 'holistic_member is missing'),
    ({'holistic_member': ['web']}, 'holistic_group is missing'),
    ({'holistic_group': [GROUP, GROUP], 'holistic_member': ['web']},
     'holistic_group has 2 values'),
    ({'holistic_group': [GROUP], 'holistic_member': []},
     'holistic_member is missing'),
    ({'holistic_group': [GROUP], 'holistic_member': ['']},
     'holistic_member is empty'),
    ({'holistic_group': '', 'holistic_member': 'web'},
     'holistic_group is empty'),
    ({'holistic_group': ['web'], 'holistic_member': ['web']},
     'holistic_group=web is not a UUID'),
    ({'holistic_group': [GROUP], 'holistic_member': ['\ud800']},
     'holistic_member is not text, or has'),
    ({'holistic_group': [GROUP], 'holistic_member': ['a\0b']},
     'holistic_member is not text, or has'),
    ({'holistic_group': [GROUP], 'holistic_member': [5]},
     'holistic_member is not text, or has'),
])
def test_an_invalid_pointer_is_refused_with_a_message(hints, message):
    assert has_pointer(hints)
    with pytest.raises(RequestRefused, match=message):
        Pointer.from_hints(hints)
