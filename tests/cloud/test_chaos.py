# SPDX-License-Identifier: Apache-2.0
"""Two hundred operations of several users, in three sequences on one cloud,
while each process of the cloud is killed or paused once. After each sequence,
every invariant holds.

These are the short runs. ``tools/tox.sh -e chaos -- --seeds 20`` makes long
runs, and ``tools/tox.sh -e chaos -- --short`` repeats these.
"""

import pytest

from tests.chaos.clouds import chaos_cloud
from tests.chaos.operations import SHORT_LENGTH, SHORT_RUNS, short_sequences
from tests.chaos.run import run
from tests.chaos.tables import COLUMNS, row


@pytest.fixture(scope='module')
def chaos(request):
    """A small cloud. Its directory is kept if a test fails."""
    failed = request.session.testsfailed
    with chaos_cloud(is_kept=lambda: request.session.testsfailed > failed
                     ) as cloud:
        yield cloud


@pytest.mark.parametrize(
    'sequence', short_sequences(), ids=lambda each: f'seed {each.seed}')
def test_invariants_hold_after_chaos(chaos, sequence):
    report = run(chaos, sequence)
    print(dict(zip(COLUMNS, row(report))), dict(report.outcomes),
          dict(report.repairs), dict(report.answers))
    assert report.violations == []
    assert report.outcomes.total() == SHORT_LENGTH
    assert report.faults == dict.fromkeys(SHORT_RUNS[sequence.seed], 1)
