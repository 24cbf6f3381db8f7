# SPDX-License-Identifier: Apache-2.0
"""The hosts that one part may need for the current prices.

Prices only raise the costs of hosts, and only a few hosts have one. Of all
others, each part needs only the cheapest. A dynamic program of these and of
the hosts with prices has the same optimum as one of all hosts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.limits.current import shared_hosts as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.shared_hosts.part_program import PartProgram
from nova_holistic.solver.small_groups.domain_program import DomainProgram
from nova_holistic.solver.small_groups.domain_rules import DomainRules


@dataclass(slots=True, eq=False)
class NeededHosts:
    """The rules of one part with the hosts that it may need.

    :ivar part: the part with all hosts
    """

    part: PartProgram
    _rules: DomainRules | None = None
    # [host]: whether the rules are valid for any price of the host.
    _changing: np.ndarray = field(
        default_factory=lambda: np.zeros(1, dtype=bool))

    def program(self, priced: np.ndarray,
                costs: Callable[[np.ndarray], np.ndarray],
                in_time: InTime) -> DomainProgram:
        """The program of the part, with the hosts that the cheapest plan is
        among. If these hosts are not known, it has all hosts, and they are
        determined for the next prices.

        :param priced: indexes of the hosts with prices
        :param costs: returns [n, state]: price, for indexes of hosts
        """
        every, factor = self.part.problem.rules, self.part.problem.factor
        hosts, spare = len(every.leaves), limits().spare_hosts
        is_few = len(priced) <= limits().priced_share * hosts
        has_price = np.zeros(hosts, dtype=bool)
        has_price[priced] = True
        rules = self._rules
        if is_few and rules is not None and (has_price & ~self._changing)[
                rules.leaves].sum() <= spare:
            return DomainProgram(rules, costs(rules.leaves), factor, in_time)
        program = DomainProgram(every, costs(every.leaves), factor, in_time)
        if is_few:
            changing = has_price | self._changing
            program.changing, program.spare = changing[every.leaves], spare
            needed = program.needed_leaves()
            if factor:
                needed |= program.with_factor(0.0).needed_leaves()
            self._rules, self._changing = every.only(needed), changing
        return program
