# SPDX-License-Identifier: Apache-2.0
"""The solver uses one processor, even if BLAS has several threads by
default."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from nova_holistic.objectives.fewest_hosts import FewestHosts
from nova_holistic.solver.solve import solve
from tests.unit.builders import group, servers, two_racks


@pytest.fixture(autouse=True)
def two_threads():
    """Let BLAS use two threads, as on a machine with more than one processor.
    """
    with threadpool_limits(2, user_api='blas'):
        yield


def threads():
    return {each['num_threads'] for each in threadpool_info()
            if each['user_api'] == 'blas'}


def test_solving_uses_one_blas_thread(monkeypatch):
    seen = []
    value = FewestHosts.value

    def looked_at(self, *arguments):
        seen.append(threads())
        return value(self, *arguments)

    monkeypatch.setattr(FewestHosts, 'value', looked_at)
    assert threads() == {2}
    solve(group(servers('web', 3)), two_racks(), objective='fewest-hosts')
    assert {1} in seen
    assert threads() == {2}
