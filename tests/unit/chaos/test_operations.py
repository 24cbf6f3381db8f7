# SPDX-License-Identifier: Apache-2.0
"""The sequence of a chaos run."""

from collections import Counter

import pytest

from tests.chaos.operations import (
    FAULTS, FIRST, KINDS, LENGTH, sequence, SHORT_LENGTH, short_sequences)

SEEDS = range(1, 21)


def test_a_seed_always_gives_the_same_sequence():
    assert sequence(7) == sequence(7)
    assert sequence(7) != sequence(8)


@pytest.mark.parametrize('seed', SEEDS)
def test_a_sequence_has_its_length_and_every_fault(seed):
    made = sequence(seed)
    assert [each.number for each in made.operations] == [*range(LENGTH)]
    assert Counter(fault.kind for fault in made.faults) == FAULTS
    assert all(2 * FIRST <= fault.begin < LENGTH for fault in made.faults)
    assert all(fault.begin < fault.end for fault in made.faults)


def test_the_seeds_have_every_kind_of_operation():
    kinds = Counter(operation.kind for seed in SEEDS
                    for operation in sequence(seed).operations)
    assert set(kinds) == set(KINDS)


def test_the_short_runs_have_every_kind_of_operation_and_fault():
    made = short_sequences()
    assert len({each.seed for each in made}) == 3
    assert {operation.kind for each in made
            for operation in each.operations} == set(KINDS)
    assert sorted(fault.kind for each in made
                  for fault in each.faults) == sorted(FAULTS)
    assert all(fault.begin < SHORT_LENGTH for each in made
               for fault in each.faults)


@pytest.mark.parametrize('seed', SEEDS)
def test_operations_are_about_what_earlier_ones_create(seed):
    created, booted = set(), set()
    for operation in sequence(seed).operations:
        if operation.kind == 'create':
            created.add(operation.group)
        elif operation.group is not None:
            assert operation.group in created
        if operation.kind == 'boot':
            booted.add((operation.group, operation.member))
        elif operation.member is not None:
            assert (operation.group, operation.member) in booted
