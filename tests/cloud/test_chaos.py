# SPDX-License-Identifier: Apache-2.0
"""A hundred operations of several users while each process of the cloud is
killed or paused once: afterwards every invariant holds.

This is the short run. ``tools/tox.sh -e chaos -- --seeds 20`` makes long ones,
and ``tools/tox.sh -e chaos -- --short`` repeats this one.
"""

import pytest

from tests.chaos.clouds import chaos_cloud
from tests.chaos.operations import (
    sequence, SHORT_FAULTS, SHORT_LENGTH, SHORT_SEED)
from tests.chaos.run import run
from tests.chaos.tables import COLUMNS, row


@pytest.fixture
def chaos(request):
    """A small cloud; its directory stays where it is if the test fails."""
    failed = request.session.testsfailed
    with chaos_cloud(is_kept=lambda: request.session.testsfailed > failed
                     ) as cloud:
        yield cloud


def test_invariants_hold_after_chaos(chaos):
    report = run(chaos, sequence(SHORT_SEED, SHORT_LENGTH, SHORT_FAULTS))
    print(dict(zip(COLUMNS, row(report))), dict(report.outcomes),
          dict(report.repairs), dict(report.answers))
    assert report.violations == []
    assert report.outcomes.total() == SHORT_LENGTH
    assert report.faults == SHORT_FAULTS
