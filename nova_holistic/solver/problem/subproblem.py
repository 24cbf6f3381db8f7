# SPDX-License-Identifier: Apache-2.0
"""Subproblems: some of the hosts, or some of the members that may move."""

from dataclasses import dataclass

from nova_holistic.model.group import Scope
from nova_holistic.solver.problem.hosts import HostTable
from nova_holistic.solver.problem.rows import Row, ScopedPolicy
from nova_holistic.solver.problem.rules import Rules


@dataclass(frozen=True, slots=True)
class Freed:
    """Members that may move. The caller knows the hosts of all others.

    :ivar scope: the members that may move; no class contains both these and
        other members
    :ivar policies: policies whose checks depend on one of these members
    :ivar rows: rows of ``whole`` for these members; None if the policies must
        be encoded
    :ivar whole: the rules of all hosts
    """

    scope: Scope
    policies: tuple[ScopedPolicy, ...]
    rows: tuple[Row, ...] | None = None
    whole: Rules | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Subproblem:
    """The part of a problem that a case covers, and how it is solved.

    :ivar table: some hosts of the snapshot; None for all of them
    :ivar freed: the members that may move; None for all members without a host
    :ivar constructs: whether the plan is constructed without a program, so
        that traffic needs no rows
    """

    table: HostTable | None = None
    freed: Freed | None = None
    constructs: bool = False


EVERYTHING = Subproblem()
"""All hosts, and all members without a host."""
