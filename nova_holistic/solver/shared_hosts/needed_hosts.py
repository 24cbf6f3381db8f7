# SPDX-License-Identifier: Apache-2.0
"""The hosts that one part may need for the current prices.

Prices only raise the costs of hosts, and only a few hosts have one. Of all
others, each part needs only the cheapest. A dynamic program of these and of
the hosts with prices has the same optimum as one of all hosts.
"""

from dataclasses import dataclass, field

import numpy as np

from nova_holistic.solver.limits.current import shared_hosts as limits
from nova_holistic.solver.problem.deadline import InTime
from nova_holistic.solver.shared_hosts.part_program import PartProgram
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

    def rules(self, priced: np.ndarray, in_time: InTime) -> DomainRules:
        """The rules of the problem, with the hosts that the cheapest plan is
        among.

        :param priced: indexes of the hosts with prices
        """
        every = self.part.problem.rules
        hosts, spare = len(every.leaves), limits().spare_hosts
        if len(priced) > limits().priced_share * hosts:
            return every
        has_price = np.zeros(hosts, dtype=bool)
        has_price[priced] = True
        if self._rules is None or (has_price & ~self._changing)[
                self._rules.leaves].sum() > spare:
            changing = has_price | self._changing
            self._rules = self.part.needed(changing, spare, in_time)
            self._changing = changing
        return self._rules
