# SPDX-License-Identifier: Apache-2.0
"""Requests to Placement about allocations."""

from collections.abc import Mapping
from typing import Any

from keystoneauth1 import exceptions as ks_exceptions

from nova_holistic.holds import errors, placement_responses, retry_policy

MICROVERSION = '1.38'


class Requests:
    """A client of Placement. Every method except ``call`` raises HoldsError if
    the response is unexpected. Every method raises NoResponse if Placement
    does not respond."""

    def __init__(self, placement, sleep: retry_policy.Sleep):
        """:param placement: keystoneauth Adapter for the placement service
        :param sleep: waits between two attempts at one change
        """
        self._placement = placement
        self._sleep = sleep

    def read(self, consumer: str) -> Mapping[str, Any] | None:
        """A consumer's allocations in the format of Placement; None if it has
        no allocations."""
        response = self.call('get', f'/allocations/{consumer}')
        body = placement_responses.document(response)
        return body if body['allocations'] else None

    def post(self, body: Mapping[str, Any]) -> bool:
        """Change several consumers: all of them, or none.

        :param body: body of POST /allocations
        :returns: False if the generation of a consumer or provider has
            changed, or if Placement's database rolled the change back
        :raises CapacityUnavailable: the capacity or the provider is not
            available
        """
        response = self.call('post', '/allocations', json=body)
        if response.status_code == 204:
            return True
        if response.status_code == 409:
            if placement_responses.code(
                    response) == 'placement.concurrent_update':
                return False
            raise errors.CapacityUnavailable(
                placement_responses.detail(response))
        # Placement returns 400, not 404 or 409, if a provider or a resource
        # class was deleted. It also returns 400 if the body is invalid.
        detail = placement_responses.detail(response)
        if (response.status_code == 400
                and 'does not validate' not in detail):
            raise errors.CapacityUnavailable(detail)
        if placement_responses.was_rolled_back(response):
            return False
        raise placement_responses.unexpected(response)

    def delete(self, consumer: str) -> None:
        """Delete a consumer's allocations, if it has any."""
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
        """The response to any request, with any status.

        :raises NoResponse: Placement does not respond
        """
        try:
            return self._placement.request(
                path, method.upper(), microversion=MICROVERSION,
                raise_exc=False, **kwargs)
        except (ks_exceptions.ClientException, OSError) as error:
            raise errors.NoResponse(f'Placement: {error}') from error
