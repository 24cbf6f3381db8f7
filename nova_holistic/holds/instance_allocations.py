# SPDX-License-Identifier: Apache-2.0
"""Allocations of instances that no hold is exchanged for."""

from collections.abc import Callable, Mapping
from typing import Any

from nova_holistic.holds import errors, retry_policy
from nova_holistic.holds.allocation_bodies import INSTANCE, same
from nova_holistic.holds.requests import Requests


class InstanceAllocations:
    """A change that is repeated finds that it is done."""

    def __init__(self, requests: Requests, sleep: retry_policy.Sleep):
        """:param sleep: waits between two attempts at one change"""
        self._requests = requests
        self._sleep = sleep

    def allocate(self, instance_uuid: str,
                 wanted: Mapping[str, Any]) -> None:
        """Give an instance its first allocation.

        :param wanted: as Placement expects it of a new consumer
        :raises AllocationChanged: the instance has another allocation
        :raises CapacityGone: the host has no room, or is gone
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

        self._repeat(attempt)

    def restore(self, instance_uuid: str, before: Mapping[str, Any] | None
                ) -> None:
        """Give an instance the allocations that it had.

        :param before: as ``HoldClient.exists`` returned it; None for none
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
                # Nova names none, so Placement calls it unknown.
                'consumer_type': INSTANCE,
                'consumer_generation': found and found[
                    'consumer_generation']}})

        self._repeat(attempt)

    def _repeat(self, attempt: Callable[[], bool]) -> None:
        """
        :raises HoldsError: others changed the same hosts in each attempt
        """
        if not retry_policy.retry_until_success(attempt, self._sleep):
            raise errors.HoldsError(
                'Placement could not settle concurrent changes to the hosts')
