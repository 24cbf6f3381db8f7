# SPDX-License-Identifier: Apache-2.0
"""The limit to one processor ends when its last concurrent user ends."""

import pytest
from threadpoolctl import threadpool_limits

from nova_holistic.solver.processor import one_processor
from tests.unit.solver.test_processor import threads


@pytest.fixture(autouse=True)
def two_threads():
    """Let BLAS use two threads, as on a machine with more than one processor.
    """
    with threadpool_limits(2, user_api='blas'):
        yield


def test_the_thread_limit_lasts_until_the_last_user_ends():
    first, second = one_processor(), one_processor()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == {2}


def test_an_error_restores_the_thread_count():
    with pytest.raises(ZeroDivisionError), one_processor():
        assert threads() == {1}
        raise ZeroDivisionError
    assert threads() == {2}
