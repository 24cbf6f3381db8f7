# SPDX-License-Identifier: Apache-2.0
"""Limits of relaxations of aggregated hosts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DecompositionLimits:
    """Limits of relaxations of aggregated hosts.

    :ivar room_slack: share by which free amounts may exceed the capacity for a
        kind before that capacity is a separate row. Without separate rows for
        smaller amounts, the relaxation of 396 *mixed* members on 9,413 hosts
        and of 137 *network* members on 8,539 hosts (benchmarks/grid.py) took
        too long: the first had no bound, and the second had a plan of 61
        instead of 7.6 hosts.
    :ivar part_variables: variables for parts of kinds, for cohesive sets or
        for cells, above which policies are left out of a relaxation.
    :ivar first_bins: bins of hosts in the first round, over all cells; also
        the minimum number of parts into which a round splits all used bins
        together. With a quarter the processor
        time is 0.6 times as much.
    :ivar rounds: rounds of disaggregation. No effect on 10 points, on which
        the bound or the time ends them.
    :ivar bin_parts: minimum number of parts into which a used bin is split.
        With four times the value the effort is 0.95 times as much on half of
        10 points.
    :ivar bound_progress: share by which a round has to raise the bound for a
        further round, or to lower the value for a further round of heuristic
        pricing.
    :ivar reserve_share: share of the time limit that is left for plans. With
        four times the value the plan is better on 1 of 10 points.
    :ivar domain_gap: gap at which branching over used domains ends. No effect
        on 22 points.
    :ivar whole_domains: domains of a level up to which their numbers of hosts
        in use are integers in a further relaxation, and up to which the count
        of hosts of all policies distinguishes them. Chosen by the related and
        network groups of benchmarks/grid.py.
    :ivar equal_hosts: share of the range of values within which hosts of a bin
        are equal if costs rise with utilisation. With four times the value the
        effort is 0.89 and 0.97 times as much on the halves of 10 points.
    :ivar assignment_places: places (class and host) in the assignment. No
        effect on 8 points.
    :ivar missing_cost: cost of a member without a place, in units of the
        largest cost of a preference or of the traffic of the member.
    :ivar cells: cells that hosts are divided into. With four times the value
        the plan is worse on 5 and better on 2 of 24 points; with a quarter it
        is worse on 2 and better on 4 (benchmarks/README.rst).
    :ivar host_cells: the same if the objective is the number of hosts, or on
        clouds of more than ``phases.preferred_hosts`` hosts, except for
        objectives about traffic. Chosen by the network and related groups of
        benchmarks/grid.py on clouds of 30 to 60 racks.
    :ivar counted_domains: domains of all policies together that are counted
        for the fewest hosts, or bound the counts of members with traffic. Each
        policy counts the domains of its levels.
    :ivar nested_scopes: scopes whose policies at two levels are counted for
        the fewest hosts, the largest scopes first. Without them the bound of
        more than a twentieth of the groups of
        tests/unit/solver/internal/test_nested_domains.py is lower.
    :ivar nested_ranges: ranges of the smallest number of members of a domain
        in this count; above, several numbers form one range. With one range
        the bounds of some groups of the same tests are lower.
    :ivar spare_hosts: hosts without members that are added, as a share of the
        chosen hosts. With four times the value the effort is 1.06 times as
        much on half of 10 points.
    :ivar fewest_spare_hosts: minimum number of hosts without members that are
        added. No plan and no bound differs on 9 points.
    :ivar counted_cells: cells that hosts are divided into for the count of
        hosts of all policies (``host_counts``).
    :ivar counting_nodes: nodes of the branch and bound of this program.
    :ivar counted_hosts: hosts of a cell that are chosen for each host in use
        in its solution, and domains for members that one domain holds.
    :ivar cohesive_kinds: kinds, above which members of cohesive sets do not
        form separate kinds. With a quarter the plan is worse on 3 and better
        on 1 of 10 points, with 1.2 times the effort.
    """

    room_slack: float = 0.5
    part_variables: int = 5000
    first_bins: int = 120
    rounds: int = 12
    bin_parts: int = 8
    bound_progress: float = 3e-4
    reserve_share: float = 0.65
    domain_gap: float = 1e-4
    whole_domains: int = 16
    equal_hosts: float = 0.01
    assignment_places: int = 8000
    missing_cost: float = 10.0
    cells: int = 64
    host_cells: int = 16
    counted_domains: int = 65536
    nested_scopes: int = 5
    nested_ranges: int = 100
    spare_hosts: float = 0.25
    fewest_spare_hosts: int = 24
    counted_cells: int = 128
    counting_nodes: int = 200
    counted_hosts: int = 3
    cohesive_kinds: int = 12
