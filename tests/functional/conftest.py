# SPDX-License-Identifier: Apache-2.0
"""Real clouds for the functional tests."""

# First of all: it decides on green threads for everything imported later.
import nova_holistic.embedded  # noqa: F401, I100

import contextlib
import logging

import pytest

from nova_holistic.embedded.cloud import EmbeddedCloud
from tests.judging import every_plan_is_judged  # noqa: F401


@pytest.fixture
def start_cloud():
    """A function that starts an EmbeddedCloud until the end of the test."""
    with contextlib.ExitStack() as stack:
        def start(hosts, **options):
            return stack.enter_context(EmbeddedCloud(hosts, **options))
        yield start


@pytest.fixture
def own_logging():
    """A command sets up logging for its process; a test has no own one."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
