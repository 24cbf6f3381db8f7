# SPDX-License-Identifier: Apache-2.0
"""A call has a timeout, whether or not its work ends."""

import threading

import pytest

from nova_holistic.messaging.bounded_calls import BoundedCalls

LONG = 300.0


def test_a_call_returns_the_result_of_its_work():
    calls = BoundedCalls(1)
    assert calls(lambda: 'done', LONG) == 'done'
    assert calls(lambda: None, LONG) is None
    with pytest.raises(ZeroDivisionError):
        calls(lambda: 1 / 0, LONG)


def test_continuing_work_occupies_its_thread_until_it_ends():
    """Otherwise each call to an unavailable service would add a thread."""
    calls = BoundedCalls(1)
    go_on, begun = threading.Event(), []

    def slow():
        begun.append('slow')
        assert go_on.wait(LONG)

    with pytest.raises(TimeoutError):
        calls(slow, 0.0)
    with pytest.raises(TimeoutError):
        calls(lambda: begun.append('second'), 0.0)
    go_on.set()
    assert calls(lambda: begun.append('third'), LONG) is None
    assert begun == ['slow', 'third']
