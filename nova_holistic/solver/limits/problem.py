# SPDX-License-Identifier: Apache-2.0
"""Limits of the problem: kinds, arrays and checks of policies."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProblemLimits:
    """Limits of the problem: kinds, arrays and checks of policies.

    :ivar collected_objects: objects that are created before Python collects
        garbage. With the default of Python, encoding the policies of 2,000
        members takes twice as long.
    :ivar array_bytes: bytes of one array over hosts: 128 MiB. A larger problem
        is refused, so that it cannot exhaust the memory.
    :ivar part_hosts: hosts of a part of the problem: those of a relaxation for
        a program, those of a part in ruin and recreate, and those offered to a
        group that has no plan.
    :ivar kind_places: kinds times hosts. With half of it, the plan of 1,500
        different members on 2,000 hosts costs 0.4 % less with the objective
        stack, and the same with spread and fewest-hosts.
    :ivar covered_members: members of one kind up to which a bound of the cost
        of their hosts counts whole hosts. Chosen by the mixed groups of
        benchmarks/grid.py.
    """

    collected_objects: int = 50_000
    array_bytes: int = 2**27
    part_hosts: int = 2_000
    kind_places: int = 4_000_000
    covered_members: int = 500
