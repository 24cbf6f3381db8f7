# SPDX-License-Identifier: Apache-2.0
"""Limits of prices of hosts that independent parts share."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SharedHostsLimits:
    """Limits of prices of hosts that independent parts of a group share.

    :ivar pricing_share: share of the time for the prices. The rest is for the
        choice of one plan of each part.
    :ivar paced_parts: minimum number of parts whose programs are built before
        the building can stop because the time is too short. Chosen by the
        mixed groups of benchmarks/grid.py, like the share and ``optimism``.
    :ivar optimism: the building stops if its expected time exceeds the time
        left by more than this factor.
    :ivar rounds: rounds of prices. The mixed groups of up to 36 members of
        benchmarks/grid.py need up to 30.
    :ivar priced_share: share of the hosts with prices above which the programs
        have all hosts. Without a limit, the hosts that a part needs are chosen
        again in the first rounds, and are nearly all hosts.
    :ivar spare_hosts: hosts in a program that may get a price before the hosts
        of the program are chosen again. With 10 and 20 instead of 5, 30 rounds
        for 254 members on 9,992 hosts took 3.9 and 4.1 instead of 3.1 s.
    :ivar step: weight of the latest prices. The other weight is that of the
        prices with the best bound. With 1, the bound of 287 members on 8,090
        hosts is 5 % lower after 13 rounds; with 0.2, it is the same.
    :ivar converged_gap: relative difference between the linear program and the
        bound at which the prices are final.
    :ivar fixed_share: share of the parts whose choices a dive fixes before it
        solves the linear program again. With a sixteenth, a quarter and a
        half, 1,344 hosts with 214 members of benchmarks/grid.py had gaps of
        5.1 to 5.5 instead of 2.9 to 3.4 % (two and three runs), and two other
        groups about the same gaps.
    :ivar choice_share: share of the time left for the integer program of the
        choices. With all of it, the program took 2.7 to 3.0 of 10 s for 214
        members on 1,344 hosts and found no better plan.
    :ivar sums: different amounts that some members can request together. With
        more, all amounts are considered possible. With 1,162, the loads of
        10,000 hosts are found in 0.5 s. If no sums are known, the gaps of 3 of
        16 mixed groups are 1.1 to 2.3 instead of 1.0 to 1.4 %
        (benchmarks/README.rst).
    :ivar candidate_sums: such amounts before equal ones are merged, which
        takes up to 0.1 s.
    :ivar nodes: nodes of the search tree of the choice.
    """

    pricing_share: float = 0.7
    paced_parts: int = 10
    optimism: float = 2.0
    rounds: int = 100
    priced_share: float = 0.5
    spare_hosts: int = 5
    step: float = 0.5
    converged_gap: float = 0.001
    fixed_share: float = 0.125
    choice_share: float = 0.3
    sums: int = 3_000
    candidate_sums: int = 100_000
    nodes: int = 500
