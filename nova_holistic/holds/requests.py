# SPDX-License-Identifier: Apache-2.0
"""Requests to Placement about allocations, and what its answers mean."""

from collections.abc import Mapping
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions

from nova_holistic.holds import errors, placement_responses, retry_policy

MICROVERSION = '1.38'


class Requests:
    """Every method raises HoldsError where Placement does not answer as
    expected, and Unanswered where it does not answer at all."""

    def __init__(self, placement, sleep: retry_policy.Sleep):
        """:param placement: keystoneauth Adapter for the placement service
        :param sleep: waits between two attempts at one change
        """
        self._placement = placement
        self._sleep = sleep

    def read(self, consumer: str) -> Mapping[str, Any] | None:
        """A consumer's allocations as Placement shows them, None if none."""
        response = self.call('get', f'/allocations/{consumer}')
        if response.status_code != 200:
            raise placement_responses.unexpected(response)
        body = response.json()
        return body if body['allocations'] else None

    def post(self, body: Mapping[str, Any]) -> bool:
        """Change several consumers: all of them, or none.

        :returns: False where a consumer or provider is not as it was thought
            to be, or Placement's database would not have the change now
        :raises CapacityGone: no room, or no such provider
        """
        response = self.call('post', '/allocations', json=body)
        if response.status_code == 204:
            return True
        if response.status_code == 409:
            if placement_responses.code(
                    response) == 'placement.concurrent_update':
                return False
            raise errors.CapacityGone(placement_responses.detail(response))
        # Placement says 400, not 404 or 409, of a provider or a resource
        # class that has been deleted; and of a body it cannot read.
        detail = placement_responses.detail(response)
        if (response.status_code == 400
                and 'does not validate' not in detail):
            raise errors.CapacityGone(detail)
        if placement_responses.was_rolled_back(response):
            return False
        raise placement_responses.unexpected(response)

    def delete(self, consumer: str) -> None:
        """Delete a consumer's allocations; it may have none."""
        def attempt() -> bool:
            nonlocal response
            response = self.call('delete', f'/allocations/{consumer}')
            if response.status_code in (204, 404):
                return True
            if not placement_responses.was_rolled_back(response):
                raise placement_responses.unexpected(response)
            return False

        response = None
        if not retry_policy.retry_until_success(attempt, self._sleep):
            raise placement_responses.unexpected(response)

    def call(self, method: str, path: str, **kwargs):
        """The response to any request, with any status."""
        try:
            return self._placement.request(
                path, method.upper(), microversion=MICROVERSION,
                raise_exc=False, **kwargs)
        except ks_exceptions.ClientException as error:
            raise errors.Unanswered(f'Placement: {error}') from error
