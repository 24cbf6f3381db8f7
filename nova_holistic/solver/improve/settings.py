# SPDX-License-Identifier: Apache-2.0
"""Settings of the large-neighbourhood search."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Improvement:
    """Settings that control how a known plan is improved.

    :ivar neighbourhoods: names of the neighbourhoods to use; all if empty
    :ivar seed: seed of all random choices: the same seed leads to the same
        steps if no program reaches its time limit
    :ivar members: number of members that the first step of a neighbourhood
        frees
    :ivar growth: factor by which that number grows after a step without a
        better plan, and by which it shrinks after a program that reached its
        time limit
    :ivar hosts: maximum number of hosts of a step that the group does not use
        yet
    :ivar used_hosts: maximum number of hosts of a step that the group uses, in
        addition to those that the freed members leave
    :ivar share: maximum share of the remaining time for one program
    :ivar seconds: maximum number of seconds for one program
    :ivar failures: number of consecutive steps without a better plan after
        which the search ends. Mixed groups of benchmarks/grid.py found better
        plans after up to 15 such steps, and after a further ruin and recreate.
        Small groups take 100 steps in a few seconds.
    :ivar failures_in_turn: number of such steps after which ruin and recreate
        continues; it doubles after each ruin and recreate without a better
        plan
    :ivar memory: share of a neighbourhood's weight that a step keeps
    :ivar floor: minimum weight of a neighbourhood, so that each can be chosen
    """

    neighbourhoods: tuple[str, ...] = ()
    seed: int = 1
    members: int = 20
    growth: float = 1.4
    hosts: int = 45
    used_hosts: int = 45
    share: float = 0.1
    seconds: float = 0.5
    failures: int = 100
    failures_in_turn: int = 5
    memory: float = 0.7
    floor: float = 0.1
