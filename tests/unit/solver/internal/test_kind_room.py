# SPDX-License-Identifier: Apache-2.0
"""The number of members that each host takes is stored in little memory."""

import numpy as np
import pytest

from nova_holistic.model.plan import Plan, Unknown
from nova_holistic.solver.problem.case import Case
from nova_holistic.solver.problem import kind_room
from nova_holistic.solver.solve import solve
from tests.unit.builders import cloud, group, host, servers


def _racks(hosts):
    return cloud(*(host(f'h{n:03}', f'r{n % 10}') for n in range(hosts)))


def test_a_group_above_the_memory_limit_is_unknown(set_limits):
    set_limits('problem', array_bytes=1000)
    # The first group is one kind on 40 hosts, with a byte each. The second
    # group has 30 kinds.
    few = group(servers('m', 30))
    many = group(*(servers(f'm{n}', vcpus=1 + n % 8, forbidden_traits=(
        frozenset({f'T{n}'}))) for n in range(30)))
    assert isinstance(solve(few, _racks(40)), Plan)
    answer = solve(many, _racks(40))
    assert isinstance(answer, Unknown)
    assert answer.message.startswith('the problem of 30 members')


@pytest.mark.parametrize('most, bits', [
    (1, 8), (127, 8), (128, 16), (32767, 16), (32768, 32), (2**31, 64)])
def test_amounts_are_stored_in_the_narrowest_type(most, bits):
    assert np.iinfo(kind_room.width(most)).bits == bits


@pytest.mark.parametrize('count', [127, 128, 200, 300, 40_000])
def test_capacity_is_cut_to_the_number_of_members(count):
    """Room beyond the number of members is limited to this number, not to the
    width of the integer type."""
    snapshot = cloud(*(host(f'h{n}', vcpus=10**9) for n in range(3)))
    case = Case.of(group(servers('m', count)), snapshot, {})
    assert case.room.tolist() == [[count] * 3]
