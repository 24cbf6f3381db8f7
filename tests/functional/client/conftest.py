# SPDX-License-Identifier: Apache-2.0
import pytest

from tests.functional.api.conftest import service, world  # noqa: F401
from tests.unit.client.cloud import Cloud, Terminal


@pytest.fixture
def terminal(service, capsys, own_logging):  # noqa: F811
    """A terminal on a cloud with the API, an engine and a Placement."""
    with Cloud(service.app) as cloud:
        yield Terminal(cloud, capsys)
