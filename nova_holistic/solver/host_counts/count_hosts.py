# SPDX-License-Identifier: Apache-2.0
"""A lower bound of the number of hosts from all policies on domains together.

Each policy alone may need few hosts: six members on different hosts of one
zone need six, and a spread over three zones needs three. Together they need
eight. Relaxations of groups with many policies omit these policies, because
their rows on thousands of domains take seconds. This program has no variable
for a host or for a domain of a level with many domains. Its variables are the
numbers of hosts and of domains in use in each region.
"""

from dataclasses import dataclass

import numpy as np

from nova_holistic.model.group import Group
from nova_holistic.solver.column_generation.host_types import HostTypes
from nova_holistic.solver.decomposition.columns import Columns
from nova_holistic.solver.host_counts.count_program import CountProgram
from nova_holistic.solver.host_counts.counted_hosts import (
    CountedHosts, host_values)
from nova_holistic.solver.host_counts.counted_members import CountedMembers
from nova_holistic.solver.host_counts.domain_rows import DomainRows
from nova_holistic.solver.host_counts.promising_hosts import (
    promising_hosts)
from nova_holistic.solver.host_counts.region_rows import RegionRows, Together
from nova_holistic.solver.limits.current import decomposition as limits
from nova_holistic.solver.milp.branching import Branching
from nova_holistic.solver.numerics.tolerances import INTEGRALITY
from nova_holistic.solver.problem.deadline import Deadline, InTime
from nova_holistic.solver.problem.kinds import Kinds


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What is counted.

    :ivar kinds: the members; none of them stays on its host
    :ivar group: the group with the policies; it may have further members
    :ivar columns: the hosts of the members
    :ivar host_types: the types of these hosts; None if the kinds are too many
        for patterns
    :ivar prices: [kind]: price of a member in a bound without policies
    :ivar known: number of hosts of a plan; None if no plan is known
    """

    kinds: Kinds
    group: Group
    columns: Columns
    host_types: HostTypes | None = None
    prices: np.ndarray | None = None
    known: float | None = None

    @property
    def gap(self) -> float:
        """A relative gap of less than one host."""
        return (1 - INTEGRALITY) / self.known if self.known else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class HostCount:
    """The result of the count.

    :ivar bound: lower bound of the number of hosts; None if nothing is proved
    :ivar hosts: indexes of hosts that may hold all members
    """

    bound: float | None
    hosts: np.ndarray


def count_hosts(counted: Counted, deadline: Deadline) -> HostCount | None:
    """Count the hosts of the members; None if the program is too large.

    :raises OutOfTime: if the time ends before the program is built
    """
    in_time: InTime = deadline.check
    members = CountedMembers.of(counted.kinds, counted.group, in_time)
    hosts = CountedHosts.of(members, counted.columns, counted.group, in_time)
    if len(hosts.size) * len(members.kind) > limits().part_variables:
        return None
    program = CountProgram(members, hosts)
    in_time()
    prices = [*counted.kinds.amounts.T.astype(float)]
    if counted.prices is not None and counted.host_types is not None:
        prices.append(np.maximum(counted.prices, 0.0))
    values = host_values(counted.kinds, counted.columns, counted.host_types,
                         prices)
    for each, value in zip(prices, values):
        in_time()
        program.limit_values(each, value)
    together = _add_rows(program)
    in_time()
    branching = Branching(*program.finish())
    outcome = branching.solve(counted.gap, deadline.left,
                              limits().counting_nodes)
    # The last values are those of the prices of members, if they are known,
    # and those of a resource class otherwise.
    return HostCount(outcome.bound, promising_hosts(
        program, values[-1], branching.solution, together))


def _add_rows(program: CountProgram) -> list[Together]:
    """Add the rows of all shapes and of limited traffic, and return the sets
    of members that one domain holds."""
    members = program.members
    domains = {level: DomainRows(program, level)
               for level in program.hosts.domain_of}
    regions = {level: RegionRows(program, level) for level in members.levels}
    for shape in members.shapes:
        regions[shape.level].add(shape)
        if shape.level in domains:
            domains[shape.level].add(shape)
    for traffic in members.traffic:
        regions[traffic.level].divide(traffic)
    return [each for rows in regions.values() for each in rows.together]
