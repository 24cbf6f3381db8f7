# SPDX-License-Identifier: Apache-2.0
"""Only a server that is being created must be where its member describes."""

from types import SimpleNamespace

import pytest

from nova_holistic.exceptions import HolisticError
from nova_holistic.model.members.requirements import Requirements
from nova_holistic.scheduler.claim import described_place
from nova_holistic.scheduler.claim.request_refusal import HostRefused
from nova_holistic.scheduler.hosts.locations import host_at
from nova_holistic.table.records import MemberState
from nova_holistic.topology.base import Location

LEVELS = ('az', 'rack', 'host')
IN_RACK_1 = Requirements(location=('az1', 'r1'))


def check(host_rack, state=MemberState.CLAIMED, levels=LEVELS, located=None):
    """Check a host in a rack for a member that describes another rack."""
    own = SimpleNamespace(
        record=SimpleNamespace(levels=LEVELS),
        own=SimpleNamespace(state=state, member=SimpleNamespace(
            requirements=IN_RACK_1)))
    host = host_at('cmp-1', Location(('az1', host_rack)))
    described_place.check(
        own, SimpleNamespace(host='cmp-1', aggregates=[]), levels,
        located or (lambda: host))


def test_a_new_server_must_be_at_the_described_location():
    check('r1')
    with pytest.raises(HostRefused, match='is not at the location'):
        check('r2')


def test_the_server_of_a_built_member_may_be_elsewhere():
    check('r2', state=MemberState.BUILT)


def test_a_location_of_other_levels_is_not_compared():
    check('r2', levels=('az', 'host'))


def test_a_host_without_a_unique_location_is_refused():
    def located():
        raise HolisticError('two aggregates name two racks')

    with pytest.raises(HostRefused, match='has no unique location'):
        check('r1', located=located)
