# SPDX-License-Identifier: Apache-2.0
"""The owners of a trait are cached, and read from Placement again when their
lifetime ends."""

import types

import nova.conf
import pytest

from nova_holistic import conf
from nova_holistic.scheduler.hosts.trait_owners import (
    REMEMBERED, TraitOwners)

CONF = nova.conf.CONF


class Placement:
    def __init__(self):
        self.owners = ['1']
        self.asked = []

    def get(self, path, **kwargs):
        self.asked.append(path.partition('=')[2])
        return types.SimpleNamespace(status_code=200, json=lambda: {
            'resource_providers': [{'uuid': each} for each in self.owners]})


@pytest.fixture
def placement():
    conf.register_opts(CONF)
    yield Placement()
    CONF.clear_override('traits_lifetime', group='holistic')


def test_an_answer_is_remembered_for_its_lifetime(placement):
    now = [1000.0]
    known = TraitOwners(lambda: now[0])
    assert known.owners(placement, {'A'}) == {'A': {'1'}}
    placement.owners = ['2']
    now[0] += 59.9
    assert known.owners(placement, {'A'}) == {'A': {'1'}}
    now[0] += 0.1
    assert known.owners(placement, {'A'}) == {'A': {'2'}}
    assert placement.asked == ['A', 'A']


def test_with_no_lifetime_placement_is_queried_each_time(placement):
    CONF.set_override('traits_lifetime', 0, group='holistic')
    known = TraitOwners(lambda: 0.0)
    for owner in '1', '2':
        placement.owners = [owner]
        assert known.owners(placement, {'A'}) == {'A': {owner}}


def test_no_more_traits_are_remembered_than_the_limit(placement):
    known = TraitOwners(lambda: 0.0)
    for number in range(3 * REMEMBERED):
        known.owners(placement, {f'T{number}'})
        assert len(known._found) <= REMEMBERED


def test_used_traits_are_renewed_after_half_of_their_lifetime(placement):
    now = [1000.0]
    known = TraitOwners(lambda: now[0])
    known.owners(placement, {'A', 'B'})
    now[0] += 29.9
    known.renew(placement)
    assert placement.asked == ['A', 'B']
    now[0] += 0.1
    known.renew(placement)
    assert placement.asked == ['A', 'B', 'A', 'B']
    now[0] += 30
    known.owners(placement, {'B'})
    placement.owners = ['2']
    known.renew(placement)
    # No request has used A since it was renewed.
    assert placement.asked[4:] == ['B']
    assert known.owners(placement, {'B'}) == {'B': {'2'}}
    now[0] += 30
    known.owners(placement, {'A'})
    assert placement.asked[5:] == ['A']
