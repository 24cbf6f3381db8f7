# SPDX-License-Identifier: Apache-2.0
"""Limits of constructive heuristics."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConstructLimits:
    """Limits of constructive heuristics.

    :ivar first_plan_seconds: seconds from the start of the search in which a
        first plan is constructed, even if the time limit is shorter. With
        three seconds, all of 82 groups of 3 to 1,022 members on 10 to 10,000
        hosts (five families of benchmarks/grid_cases.py) had a plan with time
        limits of 0.001 to 0.2 s. With no additional time, half of the groups
        of up to 12 members had none within 0.01 s, and no group of 1,000
        members had one within 0.2 s. The first plan of 5,000 members on 50,000
        hosts takes 1.1 to 7.6 s on a busy machine.
    :ivar restarts: restarts of the first ordering of hosts. In a nearly full
        cloud (benchmarks/planted.py) about twelve are needed for a plan of 200
        members.
    :ivar further_restarts: restarts of each further ordering, attempts at the
        classes of one component before all classes are placed again, and
        orders of the classes of the fallback plan.
    :ivar passes: passes over the places that no class could use. With a
        quarter the plan is worse on 1 of 6 points.
    :ivar fallback_copies: copies of the group for which the hosts of the
        fallback plan have capacity. With a quarter the plan is better on 1,
        and with four times the value it is worse on 1 of 10 points.
    :ivar fewest_fallback_hosts: minimum hosts of the fallback plan. With a
        quarter the plan is better on 1 and the effort is 0.74 times as much;
        with four times the value the plan is better on 1 of 3 points.
    :ivar insertion_places: places (host and member) up to which a program is
        used instead of insertion. Chosen so that tests with few hosts solve
        programs. With 0, six members on 30 hosts have the same plan after the
        same time.
    :ivar inserted_members: members that may be inserted. With a quarter the
        bound is worse on 1 and the effort is 1.31 times as much, of 8 points.
    :ivar exact_insertion_places: places up to which only a plan that is proven
        to be optimal is accepted. Without this limit, six members on 300
        hosts get three hosts instead of two
        (tests/unit/solver/internal/test_insertion.py).
    :ivar all_hosts: hosts up to which greedy construction uses all, and a
        group of many small subgroups is solved in one program; hosts of the
        fallback plan.
    :ivar all_places: hosts times descriptions up to which greedy construction
        uses all hosts. With a quarter the plan is better on 1 and the effort
        is 0.94 times as much, of 1 point.
    :ivar further_plan_share: share of the time that has to be left for a
        further plan. With a quarter the plan is worse on 2 and better on 1 of
        12 points; with four times the value it is worse on 3 and better on 1.
    :ivar roomy_hosts: hosts with the most free capacity, of all places in
        turn. With a quarter the plan is better on 1 and the bound is better on
        1; with four times the value the plan is better on 2 of 7 points.
    :ivar used_hosts: hosts in use with the most free capacity. With 40 of them
        for a batch, the first plan of a mixed group of 2,285 members costs 227
        instead of 206 with all of them.
    :ivar cheap_hosts: hosts on which the members cost little. Without them,
        the first plans of seven mixed groups (benchmarks/grid.py) cost 2.5 to
        13 % more than with 300 for a batch.
    :ivar further_hosts: hosts without servers, and hosts of whole domains of
        the level above hosts: this number of each. With a
        quarter the plan is worse on 1; with four times the value the plan is
        worse on 1 of 1 point.
    :ivar batch_members: members of one batch, if no policy connects more.
        Without batches, the first plan of a mixed group of 2,184 members takes
        3.5 times as long (benchmarks/grid.py).
    :ivar batch_share: factor of the numbers of hosts for one batch. With 0.4,
        the first plans of mixed groups take 1.4 to 2 times as long.
    :ivar first_parts: attempts to place all batches, each with one more part
        before all others. With 3, and an earlier choice of hosts for the
        parts, a mixed group of 1,403 members had no first plan
        (benchmarks/grid.py, seed 98121).
    :ivar hosts_per_kind: hosts that are added for each kind. With four times
        the value the plan is worse on 2 and better on 1 of 10 points.
    :ivar checked_hosts: hosts, or types or domains of them, at which policies
        are checked for one member, or at which an objective without a host
        cost is evaluated. Without this limit, ``hosts_for_member`` takes 8.8
        instead of 0.7 s for a group of 1,000 members with traffic on 10,000
        hosts.
    """

    first_plan_seconds: float = 5.0
    restarts: int = 48
    further_restarts: int = 6
    passes: int = 4
    fallback_copies: float = 2.0
    fewest_fallback_hosts: int = 60
    insertion_places: int = 200
    inserted_members: int = 16
    exact_insertion_places: int = 5_000
    all_hosts: int = 1000
    all_places: int = 120_000
    further_plan_share: float = 0.7
    roomy_hosts: int = 500
    used_hosts: int = 500
    cheap_hosts: int = 500
    further_hosts: int = 200
    batch_members: int = 100
    batch_share: float = 0.2
    first_parts: int = 30
    hosts_per_kind: int = 30
    checked_hosts: int = 300
