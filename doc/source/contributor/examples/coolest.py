# SPDX-License-Identifier: Apache-2.0
"""An objective that uses measurements of hosts."""

from pulp import LpAffineExpression

from nova_holistic.model.objective import Objective

HOTTEST = 100.0


def heat(host):
    """Degrees from 0 to HOTTEST, which is also the default."""
    found = host.statistics.get('cpu_temperature', HOTTEST)
    return min(max(found, 0.0), HOTTEST)


class Coolest(Objective):
    """Minimises the total temperature of the hosts that the group uses."""

    name = 'coolest'

    def value(self, members, placement, placed, snapshot):
        used = {placement[m.path].name: placement[m.path] for m in members}
        return sum(heat(used[name]) for name in sorted(used))

    def encode(self, encoder):
        total = LpAffineExpression()
        for host in encoder.hosts():
            total += encoder.host_used(host) * heat(host)
        return total
