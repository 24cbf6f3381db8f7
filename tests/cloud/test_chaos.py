# SPDX-License-Identifier: Apache-2.0
"""Two hundred operations of several users while processes of the cloud are
killed and paused: afterwards every invariant holds.

``tools/tox.sh -e chaos -- --seed N`` runs one seed again.
"""

import pytest

from tests.chaos.clouds import chaos_cloud
from tests.chaos.operations import FAULTS, LENGTH
from tests.chaos.run import run
from tests.chaos.tables import COLUMNS, row

SEEDS = (1, 2, 3)


@pytest.fixture(scope='module')
def chaos(request):
    """A small cloud for all seeds; its directory stays where it is if a test
    fails."""
    failed = request.session.testsfailed
    with chaos_cloud(is_kept=lambda: request.session.testsfailed > failed
                     ) as cloud:
        yield cloud


@pytest.mark.parametrize('seed', SEEDS)
def test_invariants_hold_after_chaos(chaos, seed, record_property):
    report = run(chaos, seed)
    for name, value in zip(COLUMNS, row(report)):
        record_property(name, value)
    print(dict(zip(COLUMNS, row(report))), dict(report.outcomes),
          dict(report.repairs), dict(report.answers))
    assert report.violations == []
    assert report.outcomes.total() == LENGTH
    assert report.faults == FAULTS
