# SPDX-License-Identifier: Apache-2.0
"""Every change takes the same steps, and a failed change is undone."""

import types

from oslo_config import cfg
import pytest

from nova_holistic import conf as options
from nova_holistic.engine.decision.planning_request import NotPlanned
from nova_holistic.engine import errors
from nova_holistic.engine.proposal import PlannerComponents, Proposal
from nova_holistic.engine.tasks.executor import Change, Executor
from nova_holistic.holds import errors as hold_errors
from nova_holistic.model.group import Group
from nova_holistic.model.plan import Reason
from nova_holistic.table import errors as table_errors
from nova_holistic.table.records import GroupStatus
from tests.unit.table.builders import a_group

ATTEMPTS = 3
DECISION = types.SimpleNamespace(
    group=Group('shop'), plan=types.SimpleNamespace(warnings=()))


class Recorded(Change):
    """Records its steps, and fails at those that a test names.

    :ivar steps: the steps in their order
    :ivar undone: errors after which the change was undone
    """

    exhausted = 'it failed {attempts} times'

    def __init__(self, **failures):
        """:param failures: the errors of the first calls of each step"""
        self.record = a_group()
        self.journal = types.SimpleNamespace(undo=self._undo)
        self.steps = []
        self.undone = []
        self._failures = {step: list(each) for step, each in failures.items()}

    def propose(self):
        self._take('propose')
        return Proposal(None, DECISION, ())

    def write(self, proposal):
        self._take('write')

    def hold(self, proposal):
        self._take('hold')
        return proposal

    def accept(self, proposal):
        self._take('accept')

    def drop_unneeded(self, proposal):
        self._take('drop')

    def check(self):
        self.steps.append('check')
        return self._failures.get('check') and self._failures['check'].pop(0)

    def _undo(self, error):
        self.steps.append('undo')
        self.undone.append(error)

    def _take(self, step):
        self.steps.append(step)
        if self._failures.get(step):
            raise self._failures[step].pop(0)


def carry_out(change):
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    conf([])
    conf.set_override('attempts', ATTEMPTS, group='planner')
    snapshot_planner = types.SimpleNamespace(
        objections=lambda request, decision, hosts: change.check() or (),
        invalidate=lambda: None)
    return Executor(PlannerComponents(
        conf, snapshot_planner, None, None, None, None)).carry_out(change)


ALL = ['propose', 'write', 'hold', 'check', 'accept', 'drop']


def test_the_steps_are_taken_in_their_order():
    change = Recorded()
    assert isinstance(carry_out(change), Proposal)
    assert change.steps == ALL


def test_without_a_proposal_no_step_is_taken():
    change = Recorded()
    change.propose = lambda: None
    assert carry_out(change) is None
    assert change.steps == []


@pytest.mark.parametrize('step, error, before', [
    ('write', errors.OutdatedPlan('changed'), ['propose', 'write']),
    ('hold', hold_errors.CapacityUnavailable('full'),
     ['propose', 'write', 'hold', 'undo']),
    ('check', [Reason('', 'closed')],
     ['propose', 'write', 'hold', 'check', 'undo']),
    ('accept', errors.OutdatedPlan('changed'),
     ['propose', 'write', 'hold', 'check', 'accept', 'undo']),
])
def test_a_change_that_is_refused_is_undone_and_planned_again(
        step, error, before):
    change = Recorded(**{step: [error]})
    assert carry_out(change)
    assert change.steps == before + ALL


def test_the_last_refusal_is_the_reason_when_no_attempt_is_left():
    change = Recorded(hold=[hold_errors.CapacityUnavailable(f'full {number}')
                            for number in range(ATTEMPTS)])
    with pytest.raises(NotPlanned) as caught:
        carry_out(change)
    assert change.steps == ['propose', 'write', 'hold', 'undo'] * ATTEMPTS
    assert caught.value.status == GroupStatus.ERROR
    (reason,) = caught.value.reasons
    assert reason.message == 'it failed 3 times; last attempt: full 2'
    assert reason.public == 'it failed 3 times'


@pytest.mark.parametrize('error', [
    errors.OwnershipLost('another engine has it'),
    hold_errors.HoldsError('Placement does not answer'), KeyboardInterrupt()])
@pytest.mark.parametrize('step', ['hold', 'accept'])
def test_any_other_error_is_undone_and_ends_the_change(step, error):
    change = Recorded(**{step: [error]})
    with pytest.raises(type(error)):
        carry_out(change)
    assert change.undone == [error]
    assert change.steps.count('propose') == 1


@pytest.mark.parametrize('step', ['hold', 'accept'])
def test_a_change_is_not_undone_if_the_table_may_have_accepted_it(step):
    change = Recorded(**{step: [table_errors.TableError('no answer')]})
    with pytest.raises(table_errors.TableError):
        carry_out(change)
    assert change.undone == []


def test_an_accepted_change_is_not_undone_if_old_holds_stay():
    change = Recorded(
        drop=[errors.HoldsNotDropped('Placement does not answer')])
    with pytest.raises(errors.HoldsNotDropped):
        carry_out(change)
    assert change.steps == ALL
