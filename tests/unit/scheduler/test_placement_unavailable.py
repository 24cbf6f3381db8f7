# SPDX-License-Identifier: Apache-2.0
"""If Placement does not respond, a request is refused or left to stock
Nova."""

from keystoneauth1 import exceptions as ks_exceptions
import pytest

from nova_holistic.scheduler.claim.request_refusal import RequestRefused
from nova_holistic.scheduler.hosts.host_reader import HostReader
from nova_holistic.scheduler.hosts import trait_owners


class Away:
    def get(self, path, **kwargs):
        raise ks_exceptions.ConnectFailure('no route to host')


def test_a_failed_read_of_traits_is_refused():
    with pytest.raises(RequestRefused, match='Placement does not answer'):
        HostReader(None, None, Away())._get(
            '/resource_providers/1/traits', 'cmp-1')


def test_a_failed_read_of_hosts_with_a_trait_is_refused():
    with pytest.raises(RequestRefused, match='Placement does not answer'):
        trait_owners.providers_with_trait(Away(), 'CUSTOM_FAST')
