# SPDX-License-Identifier: Apache-2.0
"""Settings of the large-neighbourhood search."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Improvement:
    """How a known plan is improved.

    :ivar neighbourhoods: names of those to use; none for all
    :ivar seed: of all random choices: the same seed leads to the same steps
        as long as no program reaches its time limit
    :ivar members: that the first step of a neighbourhood frees
    :ivar growth: factor of that number after a step without a better plan,
        and its inverse after a program that reached its time limit
    :ivar hosts: that the group does not use yet and that a step may use
    :ivar used_hosts: that the group uses and that a step may use, beside
        those that the freed members leave
    :ivar share: of the time left, that one program may take
    :ivar seconds: that one program may take at most
    :ivar failures: steps in sequence without a better plan after which the
        search ends
    :ivar memory: share of a neighbourhood's weight that one step leaves
    :ivar floor: smallest weight of a neighbourhood, of 1: none is forgotten
    """

    neighbourhoods: tuple[str, ...] = ()
    seed: int = 1
    members: int = 20
    growth: float = 1.4
    hosts: int = 45
    used_hosts: int = 45
    share: float = 0.1
    seconds: float = 0.5
    failures: int = 25
    memory: float = 0.7
    floor: float = 0.1
