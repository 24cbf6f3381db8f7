# SPDX-License-Identifier: Apache-2.0
import pytest

from tests.unit.api.conftest import service, start, table  # noqa: F401
from tests.unit.client.cloud import Cloud


@pytest.fixture
def cloud(service):  # noqa: F811
    """The API of a service with an engine that the test controls."""
    with Cloud(service.app) as cloud:
        yield cloud


@pytest.fixture
def client(cloud):
    return cloud.client()
