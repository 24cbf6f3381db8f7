# SPDX-License-Identifier: Apache-2.0
"""The client reads from a real Placement, which may not respond."""

import pytest

from nova_holistic.holds import errors
from tests.functional.holds.members import member, new_uuid, put


def test_the_consumers_of_a_host_are_holds_and_servers(
        placement, holds, host):
    rows = member(host), member(host)
    put(holds, *rows)
    server = placement.allocate(host, {'VCPU': 1})
    assert set(holds.consumers(host)) == {rows[0].hold, rows[1].hold, server}


def test_a_host_that_was_deleted_has_no_consumers(placement, holds, host):
    """The operator deletes a compute host that has no servers left."""
    placement.adapter.delete(f'/resource_providers/{host}')
    assert list(holds.consumers(host)) == []


def test_a_missing_answer_raises_holds_error(wire, holds, host):
    wire.lose = 1
    with pytest.raises(errors.HoldsError, match='no answer'):
        holds.exists(new_uuid())
