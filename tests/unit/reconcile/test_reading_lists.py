# SPDX-License-Identifier: Apache-2.0
"""The number of pages that are read to find some servers in a list."""

import pytest

from nova_holistic.inventory.service_client import PAGE
from nova_holistic.reconcile.instances import is_list_too_long


@pytest.mark.parametrize('listed, servers, in_vain', [
    (PAGE, 1, True),
    (PAGE, 2, False),
    (2 * PAGE, 2, True),
    # A part of a page takes the same request as a complete page.
    (PAGE - 1, 1, False),
    (PAGE + 1, 1, False),
    (0, 1, False),
])
def test_a_list_is_read_for_as_many_pages_as_servers_are_missing(
        listed, servers, in_vain):
    assert is_list_too_long(listed, servers) is in_vain
