# SPDX-License-Identifier: Apache-2.0
"""The fault of a server contains only texts that were written for users."""

import pytest

from nova_holistic.exceptions import HolisticError, InvalidDocument
from nova_holistic.holds.errors import HoldsError, NoResponse
from nova_holistic.scheduler.claim.request_refusal import (
    for_user, RequestRefused)
from nova_holistic.table.errors import GroupUnknown, TableError
from nova_holistic.topology.errors import AmbiguousLocation

GENERAL = ('its planned place cannot be used; the operator finds the details '
           'in the log under request req-1')


@pytest.mark.parametrize('error, message', [
    (RequestRefused('its planned host is down'), 'its planned host is down'),
    (GroupUnknown('g'), 'there is no group g'),
    (TableError('mysql at db-1'), 'the placement table does not answer'),
    (NoResponse('connection to cmp-1'), 'Placement does not answer'),
    (HoldsError('provider cmp-1'), 'Placement returned an unexpected answer'),
    (HolisticError('host cmp-1'), GENERAL),
    (InvalidDocument('hosts[0]', 'cmp-1'), GENERAL),
    (AmbiguousLocation('cmp-1', 'rack', ('a', 'r1'), ('b', 'r2')), GENERAL),
    (RuntimeError('cmp-1'), GENERAL)])
def test_a_fault_has_a_text_for_users(error, message):
    assert for_user(error, 'req-1') == message
