# SPDX-License-Identifier: Apache-2.0
"""A dry run ends with an answer, unless it can be tried again."""

import pytest

from nova_holistic.engine.decision.plan_analysis import PlanAnalysis
from nova_holistic.engine.plan_answers import answer_request
from nova_holistic import exceptions
from nova_holistic.inventory.errors import ServiceFailed
from nova_holistic.model.plan import Reason, Unknown, Unplaceable
from nova_holistic.table.errors import TableError
from nova_holistic.table.records import PlanRecord, PlanStatus

RECORD = PlanRecord('uuid', 'blue', 'ann', 'shop', PlanStatus.PLANNING, {},
                    'spread')


def planning(outcome):
    """A plan analyser that returns or raises this value."""
    def plan():
        if isinstance(outcome, BaseException):
            raise outcome
        return PlanAnalysis(outcome)

    return plan


@pytest.mark.parametrize('error, at, message', [
    (exceptions.InvalidDocument('members[0].flavor', 'there is no such'),
     'members[0].flavor', 'there is no such'),
    (ServiceFailed('nova', '/servers', 'no answer'), '', 'no answer'),
    (ZeroDivisionError('a fault'), '', "ZeroDivisionError('a fault')"),
])
def test_an_error_is_an_answer(error, at, message):
    found = answer_request(planning(error), RECORD)
    assert found.status == PlanStatus.ERROR
    (reason,) = found.document['reasons']
    assert reason['at'] == at and message in reason['message']


def test_a_plan_is_tried_again_if_the_table_is_unavailable():
    with pytest.raises(TableError):
        answer_request(planning(TableError('gone away')), RECORD)


def test_a_process_that_is_stopped_gives_no_answer():
    with pytest.raises(KeyboardInterrupt):
        answer_request(planning(KeyboardInterrupt()), RECORD)


def test_reasons_of_an_unplaceable_group_mark_their_names():
    found = answer_request(planning(Unplaceable((
        Reason('web', 'host cmp-1 is full', ('cmp-1',)),))), RECORD)
    assert found.status == PlanStatus.UNPLACEABLE
    assert found.document['reasons'] == [
        {'at': 'web', 'message': 'host cmp-1 is full', 'totals': [],
         'names': ['cmp-1']}]


def test_an_expired_time_limit_is_an_answer():
    found = answer_request(planning(Unknown('no time left')), RECORD)
    assert (found.status, found.document['message']) == (
        PlanStatus.UNKNOWN, 'no time left')


def test_each_mistake_of_a_document_is_a_reason():
    error = exceptions.InvalidDocument('members[0].flavor', 'unknown', [
        exceptions.InvalidDocument('members[1].flavor', 'unknown, too')])
    found = answer_request(planning(error), RECORD)
    assert [(reason['at'], reason['message'])
            for reason in found.document['reasons']] == [
        ('members[0].flavor', 'unknown'),
        ('members[1].flavor', 'unknown, too')]
