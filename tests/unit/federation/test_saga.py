# SPDX-License-Identifier: Apache-2.0
"""Faults at every step of a commit, on children with real leases."""

import itertools

from hypothesis import given, strategies as st
import pytest

from nova_holistic.federation.child import Refusal, RefusalKind
from nova_holistic.federation.errors import JournalRefused
from nova_holistic.federation.planner import Limits
from nova_holistic.federation.results import Placed, Refused, Unknown
from nova_holistic.federation.undo import undo_parts
from nova_holistic.table.errors import TableError
from tests.effort import examples
from tests.unit.federation.clouds import (
    Federation, LEASE, Lost, member, small)

DOCUMENT = {'name': 'shop', 'members': [member('node', 2, count=2)],
            'policies': [{'type': 'anti-affinity', 'level': 'cloud'}]}
LIMITS = Limits(commit_lease=100, max_tries=2, offer_seconds=10)
STEPS = 16
"""A number of steps above the calls and journal entries of a commit without
faults."""


class Died(BaseException):
    """The parent was killed, so its later calls have no effect."""


class Faults:
    """Injects faults at numbered steps of the commit.

    :ivar step: number of the current step
    """

    def __init__(self, federation, faults):
        """Set the faults of the children and of the journal.

        :param faults: fault by the number of its step
        """
        self.step = -1
        self.dead = False
        self._faults = faults
        for child in federation.children.values():
            child.fault = self.call
        federation.journal.fault = self.entry

    def call(self, method, when):
        if method == 'offer':
            return
        if when == 'before':
            self.step += 1
        self._act(f'lost {when}', f'died {when}', Lost)

    def entry(self, record):
        self.step += 1
        self._act('refused', 'died before', lambda: JournalRefused('gone'))

    def _act(self, fault, death, error):
        found = self._faults.get(self.step)
        if self.dead or found == death:
            self.dead = True
            raise Died
        if found == fault:
            raise error()


def run(faults):
    """Place the document; return the federation, the faults, and the result or
    None after an error."""
    federation = Federation(limits=LIMITS, **{
        name: small('a1') for name in ('ams', 'bru', 'cph')})
    provoked = Faults(federation, faults)
    try:
        found = federation.place(DOCUMENT)
    except (Died, JournalRefused):
        found = None
    return federation, provoked, found


def must_know_all_groups(federation):
    """Assert that every group with capacity has a record in the journal."""
    for name, child in federation.children.items():
        for group in child.cloud.groups.values():
            if group.places:
                record = federation.journal.records[group.key]
                assert record.child == name
                assert record.state != 'undone', record


def must_be_placed(federation, found):
    """Assert that each part reported as planned exists, with its lease."""
    planned = []
    for part in found.parts:
        group = federation.children[part.child].cloud.groups[part.group.uuid]
        planned += group.places
        assert sorted(group.places) == sorted(part.paths)
        end = (group.lease_end - federation.time.now()).total_seconds()
        assert end > LEASE - 200
    assert sorted(planned) == ['node-0', 'node-1']


def must_hold_nothing_unknown(federation, provoked, found):
    must_know_all_groups(federation)
    if isinstance(found, Placed):
        must_be_placed(federation, found)
        placed = {part.group.uuid for part in found.parts}
    else:
        placed = set()
    # The short leases of the commit expire.
    federation.time.sleep(LIMITS.commit_lease + 31)
    for child in federation.children.values():
        for group in child.cloud.groups.values():
            child.cloud.show(group.uuid)
            if group.places and group.uuid not in placed:
                # Only a lease that was extended is still valid.
                record = federation.journal.records[group.key]
                assert record.state in ('extending', 'committed', 'undoing')
                assert record.group_uuid == group.uuid
    if isinstance(found, Placed):
        must_be_placed(federation, found)
    # All leases expire.
    federation.time.sleep(LEASE)
    assert federation.held() == {}


def test_a_commit_without_faults():
    federation, provoked, found = run({})
    assert isinstance(found, Placed)
    assert provoked.step < STEPS
    must_hold_nothing_unknown(federation, provoked, found)


@pytest.mark.parametrize('fault', [
    'lost before', 'lost after', 'died before', 'died after', 'refused'])
def test_a_fault_at_any_step(fault):
    results = set()
    for step in range(STEPS):
        federation, provoked, found = run({step: fault})
        results.add(type(found))
        must_hold_nothing_unknown(federation, provoked, found)
    if fault.startswith('lost'):
        # The repeated request finds the result of the lost one.
        assert results == {Placed}


@examples(60)
@given(st.dictionaries(st.integers(0, 40), st.sampled_from(
    ['lost before', 'lost after', 'lost after', 'refused', 'died after']),
    max_size=12))
def test_many_faults(faults):
    federation, provoked, found = run(faults)
    must_hold_nothing_unknown(federation, provoked, found)


def test_a_lost_answer_creates_one_group():
    federation, _, found = run({1: 'lost after'})
    assert isinstance(found, Placed)
    assert found.tries == 1
    assert sum(len(child.cloud.groups)
               for child in federation.children.values()) == 2


def test_a_child_that_stays_silent_is_left_out_of_the_next_try():
    federation = Federation(limits=LIMITS, **{
        name: small('a1') for name in ('ams', 'bru', 'cph')})

    def silent(method, when):
        if method != 'offer':
            raise Lost
    first = {part.child for part in run({})[2].parts}
    name = max(first)
    federation.children[name].fault = silent
    found = federation.place(DOCUMENT)
    assert isinstance(found, Placed)
    assert found.tries == 2
    assert name not in {part.child for part in found.parts}
    # The other group of the first try is deleted.
    assert sum(len(child.cloud.groups)
               for child in federation.children.values()) == 2
    (record,) = [each for each in federation.journal.records.values()
                 if each.child == name]
    # The lost request may still arrive.
    assert record.state == 'undoing'
    assert record.group_uuid is None


def test_a_child_that_plans_fewer_members_is_not_believed():
    federation = Federation(limits=LIMITS, ams=small('a1'), bru=small('a1'))
    child = federation.children['ams']
    original = child.cloud.create

    def lie(*args):
        found = original(*args)
        return {**found, 'members': {'planned': 1}}
    child.cloud.create = lie
    group = {'name': 'shop', 'members': [member('node', count=2)]}
    found = federation.place(group)
    assert isinstance(found, Placed)
    assert [part.child for part in found.parts] == ['bru']
    assert federation.held() == {'bru': 2}


def test_a_lease_that_ends_before_all_parts_exist_undoes_the_commit():
    federation = Federation(limits=LIMITS, ams=small('a1'), bru=small('a1'),
                            cph=small('a1'))

    def slow(method, when):
        if method == 'create' and when == 'after':
            federation.time.sleep(LIMITS.commit_lease + 1)
    for child in federation.children.values():
        child.fault = slow
    found = federation.place(DOCUMENT)
    assert isinstance(found, (Refused, Unknown))
    federation.time.sleep(LIMITS.commit_lease)
    assert federation.held() == {}


def test_no_lease_is_extended_as_far_as_possible():
    federation = Federation(limits=LIMITS, ams=small('a1'))
    found = federation.place(
        {'name': 'shop', 'members': [member('node')]}, lease=0)
    (part,) = found.parts
    years = (part.group.lease_end - federation.time.now()).days // 365
    assert years > 60


def test_two_parents_with_crossing_choices_do_not_wait_for_each_other():
    """Parts are created in the order of the names of the clouds."""
    federation, _, found = run({})
    keys = [key for child in federation.children.values()
            for method, key in child.calls if method == 'create']
    created = [part.child for part in found.parts]
    assert created == sorted(created)
    assert len(keys) == len(set(keys)) == 2


def test_a_refused_create_is_undone_at_once():
    federation = Federation(limits=LIMITS, ams=small('a1'), bru=small('a1'),
                            cph=small('a1'))
    name = max(part.child for part in run({})[2].parts)
    federation.children[name].create = lambda *_: Refusal(
        name, RefusalKind.FORBIDDEN)
    found = federation.place(DOCUMENT)
    assert isinstance(found, Placed)
    assert name not in {part.child for part in found.parts}
    first = [each for each in federation.journal.records.values()
             if each.key.startswith('p-1-1.')]
    assert name in {each.child for each in first}
    assert {each.state for each in first} == {'undone'}


def test_keys_of_two_tries_differ():
    federation, _, found = run({})
    again = Federation(limits=LIMITS, **{
        name: small('a1') for name in ('ams', 'bru', 'cph')})
    again.place(DOCUMENT, key='p-2')
    keys = list(itertools.chain(
        federation.journal.records, again.journal.records))
    assert len(set(keys)) == 4


def test_a_database_that_fails_does_not_stop_the_undo():
    """It fails after all parts exist."""
    federation = Federation(limits=LIMITS, **{
        name: small('a1') for name in ('ams', 'bru')})

    def fail(record):
        if record.state != 'creating':
            if len(federation.held()) == 2:
                federation.journal.failed = True
            if getattr(federation.journal, 'failed', False):
                raise TableError('no connection')

    federation.journal.fault = fail
    with pytest.raises(TableError):
        federation.place(DOCUMENT)
    assert federation.journal.failed
    assert federation.held() == {}


@pytest.mark.parametrize('state', ['undoing', 'undone'])
def test_all_other_parts_are_undone_if_the_record_of_one_fails(state):
    federation = Federation(limits=LIMITS, **{
        name: small('a1') for name in ('ams', 'bru', 'cph')})
    assert isinstance(federation.place(DOCUMENT), Placed)
    parts = list(federation.journal.records.values())
    broken = parts[0].key

    def fail(record):
        if (record.key, record.state) == (broken, state):
            raise TableError('no connection')

    federation.journal.fault = fail

    def undo():
        return undo_parts(parts, lambda part: federation.children[part.child],
                          federation.journal, federation.time.now())

    with pytest.raises(TableError):
        undo()
    assert federation.held().keys() <= {parts[0].child}
    federation.journal.fault = lambda record: None
    assert undo() == []
    assert federation.held() == {}
