# SPDX-License-Identifier: Apache-2.0
"""Limits of the phases of ``solve``."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PhasesLimits:
    """Limits of the phases of ``solve``.

    :ivar search_share: share of the time limit for a plan or a proof. With a
        quarter the plan is worse on 5 of 6 points and the processor time is
        0.3 times as much.
    :ivar attempt_share: share of the time left for an attempt that may fail:
        insertion, one ordering of greedy construction, greedy construction
        before all hosts are used, batches without violated preferences, a
        second method of the solver, the whole program after its parts, or a
        question about an infeasible subset.
    :ivar bound_share: share of the time left for a bound, of the whole group
        or of one part, and for the start of a plan for traffic.
    :ivar program_share: share of the time left for one of several programs or
        relaxations in turn.
    :ivar main_share: share of the time left for the first and most important
        of two tasks: chosen hosts before all hosts, a fallback plan before a
        good plan, an infeasible subset before its text, single rules before
        several, and all copies at the same time before one after another.
    :ivar whole_share: share of the time left for one program of all hosts
        before the large-neighbourhood search. With four times the value the
        bound is better on 3 of 4 points and the processor time is 0.6 times as
        much.
    :ivar diverse_policies: policies from which on a group is diverse: its
        first plan and bounds without policies come first. Chosen by the mixed
        groups of benchmarks/grid.py: with 20, groups of 6 to 19 policies on
        thousands of hosts got their first plans seconds later, and weaker
        bounds.
    :ivar many_policies: policies from which on the first plan and bounds
        without policies also come first on clouds of up to diverse_hosts
        hosts.
    :ivar diverse_hosts: hosts up to which a program of all policies on all
        hosts comes first, if the group has fewer than many_policies policies.
        Chosen by the mixed and planted groups of benchmarks/grid.py, with 5 s:
        on up to 400 hosts, the gap of 14 of 31 groups is smaller, and of 6
        larger (the objective stack has worse plans). On 450 to 500 hosts, it
        is smaller for 3 of 9 groups, and larger for 4.
    :ivar members_per_policy: members for each policy up to which a group is
        diverse. Chosen by the mixed groups of benchmarks/grid.py. With a
        quarter the plan is worse on 1 and better on 2, and with four times the
        value it is worse on 1 of 10 points.
    :ivar coarse_from: different requirements from which on a relaxation of
        merged kinds comes first. Chosen by the different groups of
        benchmarks/grid.py: a relaxation of all kinds takes the whole time
        limit there. With four times the value the effort of five points is
        1.51 times as much.
    :ivar large_places: places (kind, or group with policies, and host) from
        which on hosts are chosen first. With a quarter the processor time is
        0.4 times as much.
    :ivar fallback_after: share of the time limit after which a fallback plan
        is constructed when policies have been read, or after the first
        relaxation.
    :ivar fallback_late: share of the time limit after which a fallback plan is
        constructed before a plan from patterns. With ``relaxation_limit``
        instead, tests/unit/solver/internal/test_fallback_plan.py has a group
        without a plan, because the assignment exceeds the time limit.
    :ivar spare_hosts: hosts added to those of the relaxation, as shares of
        them, in turn. With a quarter the plan is worse on 1, and also with
        four times the value, of 10 points.
    :ivar rounds_before_patterns: rounds of disaggregation before column
        generation. With four times the value the plan is worse on 1 of 10
        points, and the effort is up to 1.16 times as much.
    :ivar relaxation_limit: share of the time limit after which no further
        relaxation, round of pricing or choice of hosts begins.
    :ivar relaxed_kinds: kinds of members in a relaxation that ignores
        policies on domains, and kinds up to which patterns improve its bound
        if hosts only cost to be used. Chosen by the mixed groups of
        benchmarks/grid.py: with 20 and more rounds of disaggregation instead
        of patterns, the bound of 1,775 members of 28 kinds was 5 % lower, and
        that of 792 members 6 %.
    :ivar pattern_policies: policies up to which a relaxation with all policies
        chooses hosts for a diverse group without independent parts. Chosen by
        the network groups of benchmarks/grid.py. For groups of parts, the
        objectives of plans with the same preferences were up to 6 % worse, and
        with convex costs, prices of shared hosts have a better bound in this
        time: the gap of 188 members on 26,263 hosts was 24 %, and is 13 %.
    :ivar integral_gap: relative gap up to which the search ends if the
        objective is a whole number and exceeds its bound by 1. Chosen by the
        groups of benchmarks/grid.py that minimise the number of hosts.
    :ivar few_parts: independent parts up to which all of them are solved for a
        bound of a sum over hosts. Chosen by the mixed groups of
        benchmarks/grid.py.
    :ivar replanned_members: members up to which independent parts are planned
        again, one after another. Ruin and recreate finds better plans of
        larger groups in the same time: 98.4 instead of 101.1 for 1,662 members
        on 3,027 hosts, and 85.8 instead of 85.5 for 1,221 on 8,102 hosts.
    :ivar preferred_members: members up to which a plan without violated
        preferences is searched first, and up to which needed hosts are
        determined even if many hosts have room. Chosen by
        benchmarks/small_groups.py.
    :ivar preferred_hosts: hosts above which a plan without violated
        preferences is searched first. On fewer hosts, one program of all hosts
        is fast.
    :ivar emptied_group: members of a group up to which programs empty hosts,
        if the objective is the number of hosts. Chosen by the mixed groups of
        benchmarks/grid.py: with 5,000, the preferences of three of four groups
        of 1,100 to 4,900 members cost more, and those of none cost less.
    :ivar emptied_first: members of a group above which these programs get
        nearly all of the time if, after ruin and recreate, the plan violates
        no preference that can be satisfied. With 100, the plans of three of
        five groups of 111 to 179 members had one host more, because ruin and
        recreate did not follow; with more than 250 members, those of seven of
        ten had fewer. Above, ruin and recreate before these programs gets
        main_share instead of attempt_share of their time: of 17 groups of 257
        to 935 members, the plans of nine had fewer hosts (18 in total), and
        those of five had more (7 in total).
    :ivar roomy_shares: shares of the hosts with the most room, in turn, that
        a program of all members may use in addition to those of the plan, if
        the objective is the number of hosts. Chosen by the mixed groups of
        benchmarks/grid.py, like the next six limits.
    :ivar program_places: classes times hosts of a program of all members.
    :ivar program_seconds: seconds for a program of all members.
    :ivar step_places: classes times hosts of a program of the members of some
        hosts, if a program of all members is too large or not solved in
        ``program_seconds``.
    :ivar further_hosts: further hosts of a program of the members of some
        hosts, as a share of the hosts of these members.
    :ivar step_seconds: seconds for a program of the members of some hosts.
    :ivar failed_steps: consecutive programs without a better plan after which
        this search ends.
    :ivar few_places: places (class and host) up to which one program of all
        hosts comes before relaxations without policies, if the objective is
        the number of hosts. Chosen by the planted groups of
        benchmarks/grid.py: on 240 to 500 hosts, their programs have 2,500 to
        6,500 places.
    :ivar open_hosts: hosts with room for each member up to which a cloud with
        few places is nearly full: if preferences are violated, the
        large-neighbourhood search gets the time of some programs. Of 20
        groups of benchmarks/grid.py, the planted ones have at most 1.1, and
        the mixed ones at least 2.5.
    :ivar freed_members: members that the first step of this search frees.
        Chosen by planted groups of benchmarks/grid.py: with 20 instead of 60,
        the plan of 200 members had 3 hosts more.
    :ivar covers: shares of the members' amounts for which hosts are chosen in
        addition to the amounts. The last share determines the hosts that all
        plans may use; each other share leads to one plan, and determines the
        hosts that this plan fills first. Chosen by *different* groups of 250
        to 4,000 members: with 0.15 and 0.3, the plan of 4,000 members had
        1,092 hosts instead of 1,007 (benchmarks/README.rst).
    """

    search_share: float = 0.9
    attempt_share: float = 0.2
    bound_share: float = 0.3
    program_share: float = 0.5
    main_share: float = 0.7
    whole_share: float = 0.3
    diverse_policies: int = 6
    many_policies: int = 20
    diverse_hosts: int = 400
    members_per_policy: int = 10
    coarse_from: int = 150
    large_places: int = 5_000
    fallback_after: float = 0.1
    fallback_late: float = 0.4
    spare_hosts: tuple[float, ...] = (0.0, 0.5, 1.0)
    rounds_before_patterns: int = 2
    relaxation_limit: float = 0.5
    relaxed_kinds: int = 40
    pattern_policies: int = 80
    integral_gap: float = 0.05
    few_parts: int = 20
    replanned_members: int = 1500
    preferred_members: int = 32
    preferred_hosts: int = 1000
    emptied_group: int = 1000
    emptied_first: int = 250
    roomy_shares: tuple[float, ...] = (0.25, 0.5, 1.0)
    program_places: int = 3_000
    program_seconds: float = 3.0
    step_places: int = 1_600
    further_hosts: float = 0.33
    step_seconds: float = 1.5
    failed_steps: int = 15
    few_places: int = 6_000
    open_hosts: int = 2
    freed_members: int = 60
    covers: tuple[float, ...] = (0.6, 1.25, 1.5)
