# SPDX-License-Identifier: Apache-2.0
"""Moves the allocation of one consumer to another one: from a hold to an
instance, or back."""

from collections.abc import Mapping
from typing import Any

from nova_holistic.holds import errors, retry_policy
from nova_holistic.holds.allocation_bodies import (
    Allocations, emptied, FIRST_GENERATION, same)
from nova_holistic.holds.requests import Requests


class AllocationMoves:
    """Moves allocations between consumers. A repeated move finds that it is
    done."""

    def __init__(self, requests: Requests, sleep: retry_policy.Sleep):
        """:param sleep: waits between two attempts at one change"""
        self._requests = requests
        self._sleep = sleep

    def move(self, from_consumer: tuple[str, dict[str, Any]],
             to_consumer: tuple[str, dict[str, Any]],
             generation: int | None = FIRST_GENERATION) -> None:
        """Empty one consumer and fill the other, in one POST.

        :param generation: expected generation of the consumer that is emptied;
            None reads the consumer first
        """
        (source, filled), (target, wanted) = from_consumer, to_consumer

        def is_done() -> bool:
            nonlocal generation
            found = self._requests.read(source)
            if found is None:
                self._must_be_done(source, target, wanted['allocations'])
                return True
            self._must_be_same(source, found, filled['allocations'])
            generation = found['consumer_generation']
            return False

        def attempt() -> bool:
            return self._requests.post({source: emptied(
                filled, generation), target: wanted}) or is_done()

        if generation is None and is_done():
            return
        if not retry_policy.retry_until_success(attempt, self._sleep):
            raise errors.HoldsError(
                f'Placement did not move the allocation of consumer {source} '
                f'to consumer {target}')

    def _must_be_done(self, source: str, target: str,
                      wanted: Allocations) -> None:
        found = self._requests.read(target)
        if found is None:
            raise errors.HoldMissing(f'consumer {source} has no allocation')
        self._must_be_same(target, found, wanted)

    def renew(self, hold: str, wanted: Allocations) -> None:
        """Write a hold again without a change, which raises its generation.

        Placement then refuses every earlier request to move the allocation of
        the hold, since such a request names the previous generation.

        :param wanted: allocations of the hold
        :raises AllocationChanged: the hold has other allocations
        :raises HoldMissing: the hold does not exist
        :raises CapacityUnavailable: its host has less capacity than before
        """
        def attempt() -> bool:
            found = self._requests.read(hold)
            if found is None:
                raise errors.HoldMissing(f'consumer {hold} has no allocation')
            self._must_be_same(hold, found, wanted)
            return self._requests.post({hold: found})

        if not retry_policy.retry_until_success(attempt, self._sleep):
            raise errors.HoldsError(
                f'Placement did not write hold {hold} again')

    @staticmethod
    def _must_be_same(consumer: str, found: Mapping[str, Any],
                      wanted: Allocations) -> None:
        if not same(found, wanted):
            raise errors.AllocationChanged(
                f'consumer {consumer} has another allocation than planned')
