# SPDX-License-Identifier: Apache-2.0
"""Limits of integer programs of classes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MilpLimits:
    """Limits of integer programs of classes. Each number is a maximum unless
    its text says otherwise.

    :ivar start_nodes: nodes of the search tree for completing a start that
        leaves variables open. HiGHS does not look at its time limit there. No
        effect on 6 points.
    :ivar repairs: times that a program is solved again after an answer that
        exceeds the capacity of a host. No effect on 6 points.
    :ivar nodes: nodes of the search tree of an assignment: of members of kinds
        to hosts or cells, or of places to classes.
    :ivar branching_nodes: nodes of branching over used domains. No effect on 3
        points.
    :ivar exact_variables: variables of a program below which it is solved to
        proven optimality. No effect on 4 points.
    :ivar searched_variables: variables up to which the whole program is solved
        after its parts, or if few hosts have room for the members. Beyond it,
        a program of only the hosts that its linear relaxation uses comes
        instead in the second case. No effect on 3 points.
    :ivar whole_places: places (class and host) up to which one program covers
        all hosts, also for a group of many small subgroups. Beyond it, a
        program follows only if no plan is known.
    :ivar far_gap: gap of a plan on chosen hosts above which a program of these
        hosts is solved. No point reads it.
    :ivar cbc_grace: seconds beyond its time limit that CBC may take to write
        its answer. No point reads it.
    :ivar dominated_members: members up to which dominated hosts are left out.
        No effect on 8 points.
    :ivar compared_hosts: hosts with which all others are compared to find
        dominated ones, in addition to those for the members. No effect on 5
        points.
    :ivar compared_per_member: such hosts for each member. No effect on 5
        points.
    :ivar comparisons: comparisons of hosts at the same time. Each needs one
        byte of memory, so the array takes 8 MB.
    """

    start_nodes: int = 10
    repairs: int = 20
    nodes: int = 100
    branching_nodes: int = 40
    exact_variables: int = 2000
    searched_variables: int = 4_000
    whole_places: int = 20_000
    far_gap: float = 0.1
    cbc_grace: float = 0.05
    dominated_members: int = 200
    compared_hosts: int = 100
    compared_per_member: int = 4
    comparisons: int = 8_000_000
