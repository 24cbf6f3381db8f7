# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests of the solver; some of them are those of policies."""

import contextlib

import pytest

from tests.unit.policies.outside_package import site, types  # noqa: F401
from tests.unit.solver.internal.limited import limited


@pytest.fixture
def set_limits():
    """Sets limits of a section until the end of the test."""
    with contextlib.ExitStack() as stack:
        yield lambda section, **values: stack.enter_context(
            limited(section, **values))
