# SPDX-License-Identifier: Apache-2.0
import pytest

from tests.functional.engine.world import World


@pytest.fixture
def world(tmp_path):
    with World(tmp_path) as world:
        yield world
