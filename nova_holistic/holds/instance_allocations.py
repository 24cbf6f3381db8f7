# SPDX-License-Identifier: Apache-2.0
"""Writes allocations of instances without an exchange of holds."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.holds import errors, retry_policy
from nova_holistic.holds.allocation_bodies import INSTANCE, same
from nova_holistic.holds.requests import Requests


class InstanceAllocations:
    """Writes allocations of instances. A repeated change finds that it is
    done."""

    def __init__(self, requests: Requests, sleep: retry_policy.Sleep):
        """:param sleep: waits between two attempts at one change"""
        self._requests = requests
        self._sleep = sleep

    def allocate(self, instance_uuid: str,
                 wanted: Mapping[str, Any]) -> None:
        """Give an instance its first allocation.

        :param wanted: a new consumer in the format of POST /allocations
        :raises AllocationChanged: the instance has another allocation
        :raises CapacityUnavailable: the capacity or the host is not available
        """
        def attempt() -> bool:
            if self._requests.post({instance_uuid: wanted}):
                return True
            found = self._requests.read(instance_uuid)
            if found is not None and not same(found, wanted['allocations']):
                raise errors.AllocationChanged(
                    f'consumer {instance_uuid} has another allocation than '
                    f'planned')
            return found is not None

        retry_policy.retry_or_raise(attempt, self._sleep)

    def withdraw(self, instance_uuid: str, project_id: str,
                 user_id: str) -> None:
        """Ensure that an instance has no allocations, and that Placement
        refuses an ``allocate`` that has got no response and is not carried out
        yet.

        Placement then has a consumer without allocations for the instance. A
        request for the first allocations expects that no consumer exists.
        Nova therefore can no longer allocate anything for the instance.

        :param project_id: project of the instance
        :param user_id: user of the instance
        :raises HoldsError: a request is just being carried out; repeat the
            call
        """
        empty = {'allocations': {}, 'project_id': project_id,
                 'user_id': user_id, 'consumer_type': INSTANCE}

        def attempt() -> bool:
            if self._requests.post({instance_uuid: {
                    **empty, 'consumer_generation': None}}):
                return True
            found = self._requests.read(instance_uuid)
            # If the consumer has no allocations, another request has created
            # it, and is about to write them or has failed.
            return found is not None and self._requests.post({instance_uuid: {
                **empty, 'consumer_generation': found[
                    'consumer_generation']}})

        retry_policy.retry_or_raise(attempt, self._sleep)

    def restore(self, instance_uuid: str, before: Mapping[str, Any] | None
                ) -> None:
        """Give an instance its previous allocations.

        :param before: the previous result of ``HoldClient.exists``; None if
            the instance had no allocations
        :raises CapacityUnavailable: the capacity or the host is not available
        """
        wanted = {provider: {'resources': allocation['resources']}
                  for provider, allocation
                  in (before or {'allocations': {}})['allocations'].items()}

        def attempt() -> bool:
            found = self._requests.read(instance_uuid)
            if same(found or {'allocations': {}}, wanted):
                return True
            owner = before or found
            return self._requests.post({instance_uuid: {
                'allocations': wanted, 'project_id': owner['project_id'],
                'user_id': owner['user_id'],
                # Nova does not send the consumer type, and Placement returns
                # ``unknown``.
                'consumer_type': INSTANCE,
                'consumer_generation': found and found[
                    'consumer_generation']}})

        retry_policy.retry_or_raise(attempt, self._sleep)
