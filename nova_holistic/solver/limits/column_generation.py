# SPDX-License-Identifier: Apache-2.0
"""Limits of column generation and diving."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ColumnGenerationLimits:
    """Limits of column generation and diving.

    :ivar tight_resources: resources with a dual value at the same time. With a
        quarter the plan is worse on 1 of 10 points.
    :ivar vertices: combinations of kinds and resources of each size. Without
        this limit, the patterns of 200 members of 20 kinds that request 12
        resource classes, on 60 hosts, took twice as much processor time.
    :ivar rounds: rounds of pricing for one branch, and for a bound of traffic.
    :ivar warm_rounds: times that the first prices are raised. With a quarter
        the bound, and with four times the value the plan, is worse on 1 of 10
        points.
    :ivar price_rise: share by which they are raised each time. With a quarter
        the bound is worse, and with four times the value better, on 1 of 10
        points.
    :ivar fixed_cost_rounds: times that they are raised for a bound if hosts
        in use have different costs. Chosen by the mixed groups of
        benchmarks/grid.py: one more time took 2 s for 149 members on 23,018
        hosts, because all hosts then had patterns with a gain, and few of
        these patterns were useful.
    :ivar fixed_cost_rise: factor of the prices each time.
    :ivar penalty: penalty of a member without a pattern, as a factor of its
        first price. The effort differs on all of 10 points, but no plan and no
        bound.
    :ivar penalty_growth: factor of the penalty if members are left without a
        pattern. With a quarter the bound is worse on 1 of 4 points.
    :ivar largest_penalty: penalty at which members are given up, so that the
        rounds end if no pattern has a place for them. No effect on 10 points.
    :ivar converged_gap: gap of the relaxation at which no further round is
        solved. With a quarter and with four times the value the plan is worse
        on 1 of 10 points.
    :ivar branch_gap: share of the bound by which the bounds of other branches
        may be lower. With four times the value the plan is better on 1 of 6
        points.
    :ivar cell_types: host types of a cell that heuristic pricing and dives
        use. With twice the value, a plain group of 1,000 members on 10,000
        hosts (benchmarks/grid_cases.py, 75 % used) has 48 instead of 47 hosts.
    :ivar new_columns: new columns of one round, if hosts only cost to be used.
    :ivar smoothing: weight of the best dual values in the dual values that are
        priced. Without it, twelve plain, related and network groups of 400 and
        1,000 members took 3.7 times as much processor time, and one plan was
        1.8 % worse.
    :ivar dive_penalty: penalty of a member without a pattern while diving, as
        a factor of the largest price. With a quarter the plan is worse on 3 of
        10 points.
    :ivar dive_rounds: rounds of pricing before each fixing if all members
        have a place; three times as many otherwise.
    :ivar dive_columns: new columns of one round while diving. With a quarter
        the plan is worse on 3, and with four times the value on 2 of 10
        points.
    :ivar dives: further dives in which a part of the best dive is kept.
        Without them the plan is worse on 1 of 3 points, with 1.8 times the
        effort (the strategy *further dives* of benchmarks/ablation.py).
    :ivar goal_dives: further dives after which a value is enough that exceeds
        the goal by 1, if the objective is a whole number.
    :ivar dive_parts: number of parts of which a further dive frees one. With
        four times the value the plan is worse on 2 of 10 points.
    :ivar priced_types: host types whose patterns are built together, which
        limits the memory. No effect on the answers of 10 points.
    :ivar partial_patterns: unfinished patterns that are kept at a time, which
        limits the memory. No effect on 10 points.
    :ivar beam: unfinished patterns of one host type. With a tenth, a related
        group of 1,000 members on 10,000 hosts (benchmarks/grid_cases.py, 75 %
        used) has 50 instead of 49 hosts.
    :ivar heuristic_beam: unfinished patterns of one host type in heuristic
        pricing. With a quarter and with four times the value other patterns,
        but equal plans and bounds, on 1 of 5 points.
    :ivar patterns: patterns that one round of pricing evaluates. Without this
        limit, 200 members of 20 kinds on 600 different hosts took more than
        three times as much processor time with the objective stack.
    :ivar kinds: kinds of members up to which patterns are used. A diverse
        group is solved on chosen hosts only up to this number. Chosen by the
        network groups of benchmarks/grid.py.
    :ivar goal_share: share of the gap that the goal of a dive leaves to other
        policies.
    :ivar branches: branches over domains of cohesive sets. With a quarter the
        plan is worse on 2 and better on 1 of 6 points, with 1.5 times the
        effort.
    :ivar compared_hosts: numbers of the best hosts with which all others are
        compared, in turn, to find hosts that are not needed; as a multiple of
        the number of dominating hosts. Chosen by the mixed groups of
        benchmarks/grid.py.
    """

    tight_resources: int = 3
    vertices: int = 12_000
    rounds: int = 30
    warm_rounds: int = 12
    price_rise: float = 0.02
    fixed_cost_rounds: int = 5
    fixed_cost_rise: float = 1.05
    penalty: float = 1.15
    penalty_growth: float = 3.0
    largest_penalty: float = 100.0
    converged_gap: float = 5e-4
    branch_gap: float = 2e-3
    cell_types: int = 100
    new_columns: int = 200
    smoothing: float = 0.5
    dive_penalty: float = 4.0
    dive_rounds: int = 3
    dive_columns: int = 30
    dives: int = 12
    goal_dives: int = 3
    dive_parts: int = 4
    priced_types: int = 2048
    partial_patterns: int = 400_000
    beam: int = 300
    heuristic_beam: int = 30
    patterns: int = 1_000_000
    kinds: int = 20
    goal_share: float = 0.7
    branches: int = 6
    compared_hosts: tuple[float, ...] = (2.0, 12.0)
