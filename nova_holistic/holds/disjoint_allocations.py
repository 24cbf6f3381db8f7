# SPDX-License-Identifier: Apache-2.0
"""Allocations for the members of one host that fit there together."""

from collections.abc import Mapping, Sequence

from nova_holistic.table.provider_allocation import ProviderAllocation

MAX_STEPS = 20_000
"""Number of steps after which the search ends without a result. Not
measured."""

Free = Mapping[tuple[str, str], int]
"""By UUID of the provider and resource class."""


def choose(options: Sequence[Sequence[ProviderAllocation]],
           free: Free) -> Sequence[ProviderAllocation] | None:
    """One allocation for each member, in the order of the members.

    :param options: of each member, the allocations that it may have
    :param free: free capacity of the providers
    :returns: None if none were found that fit together
    """
    order = sorted(range(len(options)), key=lambda i: len(options[i]))
    found = _Search([options[i] for i in order], dict(free)).run()
    if found is None:
        return None
    chosen = dict(zip(order, found))
    return [chosen[i] for i in range(len(options))]


class _Search:
    """A depth-first search. Of members with equal options, each gets a later
    option than the one before it, so that no set is tried twice."""

    def __init__(self, options: Sequence[Sequence[ProviderAllocation]],
                 free: dict[tuple[str, str], int]):
        self._options = options
        self._free = free
        self._chosen: list[int] = []
        self._steps = 0

    def run(self) -> Sequence[ProviderAllocation] | None:
        if not self._further(0):
            return None
        return [options[index] for options, index
                in zip(self._options, self._chosen)]

    def _further(self, number: int) -> bool:
        if number == len(self._options):
            return True
        options = self._options[number]
        alike = number > 0 and self._options[number - 1] is options
        first = self._chosen[-1] if alike else 0
        for index in range(first, len(options)):
            self._steps += 1
            if self._steps > MAX_STEPS:
                return False
            if not self._take(options[index], 1):
                continue
            self._chosen.append(index)
            if self._further(number + 1):
                return True
            self._chosen.pop()
            self._take(options[index], -1)
        return False

    def _take(self, allocation: ProviderAllocation, sign: int) -> bool:
        """Whether the allocation fits; if it does, it is taken."""
        amounts = [((provider, name), sign * amount)
                   for provider, some in allocation.resources.items()
                   for name, amount in some.items()]
        if any(self._free.get(key, 0) < amount for key, amount in amounts):
            return False
        for key, amount in amounts:
            self._free[key] = self._free.get(key, 0) - amount
        return True
