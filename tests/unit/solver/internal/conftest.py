# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the solver. Some of them are fixtures of policies.
"""

import contextlib

import pytest

from nova_holistic.solver.phases import large
from tests.unit.policies.outside_package import site, types  # noqa: F401
from tests.unit.solver.internal.limited import limited


@pytest.fixture
def set_limits():
    """Return a function that sets limits of a section until the end of the
    test."""
    with contextlib.ExitStack() as stack:
        yield lambda section, **values: stack.enter_context(
            limited(section, **values))


@pytest.fixture
def searched_cases(monkeypatch):
    """The cases of all searches on chosen hosts, in order."""
    cases, search = [], large._search

    def noted(*arguments):
        found = search(*arguments)
        cases.append(found[0].case)
        return found

    monkeypatch.setattr(large, '_search', noted)
    return cases
