# SPDX-License-Identifier: Apache-2.0
"""Settings of all tests of the solver."""

from dataclasses import fields

import pytest

from nova_holistic.solver.settings import DEFAULT, Settings
from tests.unit.solver.clocks import ENOUGH


@pytest.fixture(autouse=True)
def no_answer_depends_on_the_machine(monkeypatch):
    """Replace the default of ``Settings.time_limit``: on a busy machine,
    a process may get no processor time for ten seconds. Tests of time limits
    set the limit themselves."""
    limit = [each.name for each in fields(Settings)].index('time_limit')
    defaults = list(Settings.__init__.__defaults__)
    defaults[limit], usual = ENOUGH, defaults[limit]
    monkeypatch.setattr(Settings.__init__, '__defaults__', tuple(defaults))
    # The defaults are frozen, and functions refer to this object.
    object.__setattr__(DEFAULT, 'time_limit', ENOUGH)
    yield
    object.__setattr__(DEFAULT, 'time_limit', usual)
