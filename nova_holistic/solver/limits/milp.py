# SPDX-License-Identifier: Apache-2.0
"""Limits of integer programs of classes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MilpLimits:
    """Limits of integer programs of classes.

    :ivar nodes: nodes of the search tree of an assignment: of members of kinds
        to hosts or cells, or of places to classes; of branching over used
        domains; and of the completion of a start that leaves variables open,
        during which HiGHS does not look at its time limit.
    :ivar exact_variables: variables of a program below which it is solved to
        proven optimality. With twice the value, 1 of 139 plans is worse, by
        0.7 %, and none is better: a larger program takes the time of other
        searches.
    :ivar searched_variables: variables up to which the whole program is solved
        after its parts, or if few hosts have room for the members. Beyond it,
        a program of only the hosts that its linear relaxation uses comes
        instead in the second case. With half the value, 1 of 4 plans and 1 of
        7 bounds are worse, and the effort is 1.2 times as much.
    :ivar whole_places: places (class and host) up to which one program covers
        all hosts, also for a group of many small subgroups. Beyond it, a
        program follows only if no plan is known.
    :ivar far_gap: gap of a plan on chosen hosts above which a program of these
        hosts is solved. With four times the value, 1 of 9 plans is worse and 1
        better.
    :ivar cbc_grace: seconds beyond its time limit that CBC may take to write
        its answer. With 0, three of three programs of the group *soft-several*
        of benchmarks/small_groups.py that CBC could not finish had no answer
        (20 members, 100 hosts, 85 % used); with this value, two had one.
    :ivar compared_hosts: hosts with which all others are compared to find
        dominated ones. No host is left out if the members are more than half
        of this number. Without the search for dominated hosts, 66 small groups
        of benchmarks/small_groups.py take 1.10 times the effort, and 1 bound
        is worse.
    """

    nodes: int = 100
    exact_variables: int = 2000
    searched_variables: int = 4_000
    whole_places: int = 20_000
    far_gap: float = 0.1
    cbc_grace: float = 0.05
    compared_hosts: int = 400
