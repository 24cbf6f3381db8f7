# SPDX-License-Identifier: Apache-2.0
"""Allocations for the members of one host that fit there together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nova_holistic.table.provider_allocation import ProviderAllocation

MAX_STEPS = 20_000
"""Number of steps after which the search ends without a result. This limit is
an estimate."""

Free = Mapping[tuple[str, str], int]
"""Free capacity by UUID of the provider and resource class."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One allocation that must be chosen.

    :ivar options: the possible allocations
    :ivar isolated: number of the member if no other isolated choice of this
        member may have one of the same providers; None if the choice may share
        its providers
    """

    options: Sequence[ProviderAllocation]
    isolated: int | None = None


def choose(choices: Sequence[Choice],
           free: Free) -> Sequence[ProviderAllocation] | None:
    """One allocation for each choice, in the order of the choices.

    :param free: free capacity of the providers
    :returns: None if no allocations that fit together were found in
        ``MAX_STEPS`` steps
    """
    order = sorted(range(len(choices)), key=lambda i: len(choices[i].options))
    found = _Search([choices[i] for i in order], dict(free)).run()
    if found is None:
        return None
    chosen = dict(zip(order, found))
    return [chosen[i] for i in range(len(choices))]


class _Search:
    """A depth-first search. Of interchangeable choices, each gets a later
    option than the one before it, so that no set is tried twice."""

    def __init__(self, choices: Sequence[Choice],
                 free: dict[tuple[str, str], int]):
        self._choices = choices
        self._free = free
        self._chosen: list[int] = []
        self._steps = 0
        # Providers of isolated choices, with the number of the member.
        self._isolated: set[tuple[int, str]] = set()
        self._before = _interchangeable(choices)

    def run(self) -> Sequence[ProviderAllocation] | None:
        if not self._further(0):
            return None
        return [choice.options[index] for choice, index
                in zip(self._choices, self._chosen)]

    def _further(self, number: int) -> bool:
        if number == len(self._choices):
            return True
        choice, before = self._choices[number], self._before[number]
        first = 0 if before is None else self._chosen[before]
        for index in range(first, len(choice.options)):
            self._steps += 1
            if self._steps > MAX_STEPS:
                return False
            if not self._take(choice, index):
                continue
            self._chosen.append(index)
            if self._further(number + 1):
                return True
            self._chosen.pop()
            self._give_back(choice, index)
        return False

    def _take(self, choice: Choice, index: int) -> bool:
        """Use the allocation if it fits; returns whether it fits."""
        allocation = choice.options[index]
        if any(self._free.get(key, 0) < amount
               for key, amount in _amounts(allocation)):
            return False
        providers = _isolated(choice, allocation)
        if providers & self._isolated:
            return False
        self._isolated |= providers
        for key, amount in _amounts(allocation):
            self._free[key] = self._free.get(key, 0) - amount
        return True

    def _give_back(self, choice: Choice, index: int) -> None:
        allocation = choice.options[index]
        self._isolated -= _isolated(choice, allocation)
        for key, amount in _amounts(allocation):
            self._free[key] += amount


def _amounts(allocation: ProviderAllocation
             ) -> Sequence[tuple[tuple[str, str], int]]:
    return [((provider, name), amount)
            for provider, some in allocation.resources.items()
            for name, amount in some.items()]


def _isolated(choice: Choice,
              allocation: ProviderAllocation) -> set[tuple[int, str]]:
    if choice.isolated is None:
        return set()
    return {(choice.isolated, provider) for provider in allocation.resources}


def _interchangeable(choices: Sequence[Choice]) -> Sequence[int | None]:
    """For each choice, the position of an earlier choice whose option must not
    come after its own option; None if no such choice exists.

    Isolated choices of different members with the same options can be
    exchanged only together with the other choices of their members. So their
    order is not restricted, except if the members have the same options in
    all isolated choices: then the first choices of the members are ordered.
    """
    kinds: dict[int, set[int]] = {}
    for choice in choices:
        if choice.isolated is not None:
            kinds.setdefault(choice.isolated, set()).add(id(choice.options))
    found: list[int | None] = []
    last: dict[tuple, int] = {}
    for number, choice in enumerate(choices):
        options = id(choice.options)
        own = last.get((options, choice.isolated))
        if own is None and choice.isolated is not None and (
                kinds[choice.isolated] == {options}):
            own = last.get((options, 'first'))
            last[options, 'first'] = number
        found.append(own)
        last[options, choice.isolated] = number
    return found
