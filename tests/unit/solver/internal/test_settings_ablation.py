# SPDX-License-Identifier: Apache-2.0
"""The ablation of the limits of the solver."""

from collections import Counter
from dataclasses import replace
import pathlib

import pytest

from nova_holistic.solver.limits import current
from nova_holistic.solver.limits.phases import PhasesLimits

BENCHMARKS = pathlib.Path(__file__).parents[4] / 'benchmarks'


@pytest.fixture
def ablation(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import settings_ablation
    return settings_ablation


def test_reads_of_a_limit_are_counted(ablation):
    reads = Counter()
    limits = current.Limits(phases=ablation.recording(
        'phases', PhasesLimits(), reads))
    with current.using(limits):
        assert current.phases().main_share == PhasesLimits().main_share
        assert current.phases().main_share
    assert reads == {'phases.main_share': 2}


def test_a_changed_copy_counts_as_no_read(ablation):
    reads = Counter()
    recorded = ablation.recording('phases', PhasesLimits(), reads)
    changed = replace(recorded, few_parts=3)
    assert not reads
    assert (changed.few_parts, changed.covers) == (
        3, PhasesLimits().covers)
    assert reads == {'phases.few_parts': 1, 'phases.covers': 1}


@pytest.mark.parametrize('number, chosen', [
    (1, [0]), (3, [0, 2, 4]), (6, list(range(6))), (9, list(range(6)))])
def test_the_readers_of_a_limit_take_little_and_much_effort(
        ablation, number, chosen):
    assert ablation.some(list(range(6)), number) == chosen


def test_no_point_reads_a_limit(ablation):
    assert ablation.some([], 8) == []
