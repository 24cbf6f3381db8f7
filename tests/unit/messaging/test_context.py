# SPDX-License-Identifier: Apache-2.0
"""The user and project of a request, in messages and tasks."""

from oslo_context import context as oslo_context
import pytest

from nova_holistic.messaging.context import RequestContext

ANN = RequestContext('req-1', 'blue', 'ann')


def logged_request():
    current = oslo_context.get_current()
    return current and current.request_id


def test_a_context_is_unchanged_by_a_message():
    assert RequestContext.from_document(ANN.to_document()) == ANN


@pytest.mark.parametrize('value, kept', [
    ('x' * 255, True), ('x' * 256, False), (7, False), (['a'], False)])
def test_values_other_than_short_text_are_left_out(value, kept):
    context = RequestContext.from_document(
        {'request_id': value, 'user_id': 'ann', 'lease': 60})
    assert context.request_id == (value if kept else None)
    assert (context.project_id, context.user_id) == (None, 'ann')


def test_after_a_request_the_thread_has_its_previous_context():
    before = logged_request()
    with pytest.raises(ZeroDivisionError), ANN.logged():
        with RequestContext('req-2').logged():
            assert logged_request() == 'req-2'
        assert logged_request() == 'req-1'
        raise ZeroDivisionError
    assert logged_request() == before
