# SPDX-License-Identifier: Apache-2.0
"""Limits of the large-neighbourhood search."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImproveLimits:
    """Limits of the large-neighbourhood search.

    :ivar whole_rows: policies times hosts up to which the rows of all hosts
        are built. Above, ruin and recreate takes all the time. Chosen by the
        mixed groups of benchmarks/grid.py.
    :ivar whole_places: different requirements times hosts up to which the case
        of all hosts is built. The case of 730 members that all differ on 4,353
        hosts took 1.8 s.
    :ivar search_reserve: share of the time that has to be left for the
        large-neighbourhood search after ruin and recreate.
    :ivar part_members: members of one part that ruin and recreate works on, if
        they are in several independent parts. Chosen by the mixed groups of
        benchmarks/grid.py, like all limits below.
    :ivar ruin_share: share of the time left for ruin and recreate.
    :ivar ruin_steps: steps of ruin and recreate for one part, which are
        repeated while they improve the plan.
    :ivar steps_per_member: minimum number of these steps for each member of
        the part, if the objective is the number of hosts.
    :ivar load_weight: weight of the square of a host's load, relative to the
        cost of a host, in the comparison of plans by ruin and recreate.
    :ivar ruined_members: members of one step. A violated preference or the
        classes that policies connect may have twice as many.
    :ivar emptying_factor: factor of ``ruined_members`` for a step that is not
        made for a policy, if the objective is the number of hosts. Such a step
        has to empty whole hosts.
    :ivar temperature: how much worse a step may make the plan in the mean, as
        a share of the mean cost of a member. It falls to 0 during the steps.
    :ivar least_gain: share of the objective that repeated steps have to gain.
    :ivar shared_members: members that are expected to share the cost of a new
        host when hosts are chosen.
    :ivar ordered_requirements: different requirements for which hosts of a
        part are ordered by cost. Without this limit, the order took 3.8 of
        10 s for 949 different members on 24,343 hosts, and the gap was 24
        instead of 14 % (benchmarks/grid.py).
    :ivar fewest_hosts: minimum number of hosts of a part, or all if there are
        fewer.
    :ivar roomy_share: share of the searches of ruin and recreate that use only
        the hosts with the most room for the mixture of all members, if the
        objective is the number of hosts.
    :ivar roomy_hosts: hosts of each domain of a level with few domains among
        which plans with few hosts are searched, as a share of the hosts that
        the members need at least.
    :ivar roomy_domains: domains of the level above hosts whose best hosts are
        among them, as a share of the same number.
    :ivar hosts_of_domain: hosts of such a domain.
    :ivar uneven_room: how many times as much of one resource class as of the
        scarcest one, both relative to the demand, counts as room of a host.
    :ivar part_hosts: hosts for each member of a part that dynamic programming
        places, of the whole cloud, and the best hosts of that many domains.
    :ivar part_domains: domains of each level for such a part.
    :ivar compared_hosts: cheapest hosts whose domains are compared for it.
    :ivar rows: policies times hosts of a part, unless it has fewest_hosts.
    """

    whole_rows: int = 1_000_000
    whole_places: int = 2_000_000
    search_reserve: float = 0.15
    part_members: int = 600
    ruin_share: float = 0.9
    ruin_steps: int = 150
    steps_per_member: int = 4
    load_weight: float = 0.3
    ruined_members: int = 20
    emptying_factor: int = 2
    temperature: float = 0.1
    least_gain: float = 1e-3
    shared_members: int = 4
    ordered_requirements: int = 100
    fewest_hosts: int = 300
    roomy_share: float = 0.8
    roomy_hosts: float = 0.6
    roomy_domains: float = 0.2
    hosts_of_domain: int = 4
    uneven_room: float = 3.0
    part_hosts: int = 4
    part_domains: int = 8
    compared_hosts: int = 5_000
    rows: int = 200_000
